#include "stores/zookeeper/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::zookeeper {

namespace {

/// After which a session is looked at again that could not be.
constexpr std::chrono::milliseconds pause{500};

// Versions tell it, but for a node that is gone: there may have been more to it than its end.
bool is_one_change_at_most(std::optional<Stat> const& before, std::optional<Stat> const& after) {
    if (!before && !after) return true;
    if (!after) return false;
    constexpr int made = 1;  // a node is made empty, and written in the same step
    if (!before) return after->version <= made;
    return before->czxid == after->czxid && after->version <= before->version + 1;
}

}  // namespace

void subscriptions::tend(base::instant now) {
    if (common_.is_connected())
        for (auto const& key : std::exchange(to_watch_, {}))
            if (names_.contains(key)) watch_head(key);
    std::vector<compare::session_id> due;
    for (auto& [id, when] : sessions_)
        if (now >= when) {
            when = base::never;
            due.push_back(id);
        }
    for (auto const id : due)
        look_at(id);
}

void subscriptions::renew() {
    for (auto const& [key, watched] : names_)
        to_watch_.insert(key);
    for (auto& [id, when] : sessions_)
        when = {};
    tend(base::boot_clock::now());
}

base::instant subscriptions::due() const noexcept {
    auto out = base::never;
    for (auto const& [id, when] : sessions_)
        out = std::min(out, when);
    return out;
}

// --- names -------------------------------------------------------------------------------------

void subscriptions::watch(compare::ticket which, compare::name_key const& key) {
    names_[key].waiting.push_back(which);
    watch_head(key);
}

// Told before it is watched again: whoever reads then reads behind that.
void subscriptions::watch_head(compare::name_key const& key) {
    common_.exists_and_watch(
        with_.at.name(key),
        [this, key] {
            if (!names_.contains(key)) return;
            with_.told.changed(key);
            watch_head(key);
        },
        [this, key](answer const& from) { on_watched(key, from); });
}

void subscriptions::on_watched(compare::name_key const& key, answer const& from) {
    auto const found = names_.find(key);
    if (found == names_.end()) return;
    bool const good = from.code == ZOK || from.code == ZNONODE;
    auto const waiting = std::exchange(found->second.waiting, {});
    bool const before = std::exchange(found->second.in_force, good);
    std::optional<Stat> current;
    if (from.code == ZOK) current = from.stat;
    // Between two watches more may have happened than the first one told.
    bool const more = !is_one_change_at_most(found->second.seen, current);
    if (good) found->second.seen = current;
    if (good && waiting.empty() && (!before || more)) with_.told.changed(key);
    // Whoever asked for it and was the first is refused; others were told that it is in force.
    if (!good && !before && !waiting.empty())
        names_.erase(found);
    else if (!good)
        to_watch_.insert(key);
    for (auto const each : waiting)
        good ? with_.tell(each, compare::in_force{}) : with_.tell(each, with_.judged(from));
}

void subscriptions::unwatch(compare::name_key const& key) {
    auto const found = names_.find(key);
    if (found == names_.end()) return;
    for (auto const each : found->second.waiting)
        with_.tell(each, compare::in_force{});
    names_.erase(found);
    common_.forget(with_.at.name(key));
}

// --- sessions ----------------------------------------------------------------------------------

void subscriptions::watch_session(compare::session_id id) {
    if (sessions_.emplace(id, base::never).second) look_at(id);
}

void subscriptions::unwatch_session(compare::session_id id) {
    sessions_.erase(id);
    common_.forget(with_.at.session(id));
}

void subscriptions::look_at(compare::session_id id) {
    common_.get_and_watch(
        with_.at.session(id), [this, id] { look_at(id); },
        [this, id](answer const& from) { on_session(id, from); });
}

// One that is an end is removed by whoever sees that its time is over, and only then told as dead.
void subscriptions::on_session(compare::session_id id, answer const& from) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return;
    auto const now = base::boot_clock::now();
    if (from.code == ZNONODE) return on_session_end(id);
    if (from.code != ZOK) return static_cast<void>(found->second = now + pause);
    found->second = with_.clock.end_of(from);
    if (found->second > now) return;
    found->second = now + pause;
    common_.together({{.what = operation::kind::remove, .path = with_.at.session(id)}},
                     [this, id](answer const& gone) {
                         if (gone.code == ZOK || gone.code == ZNONODE) on_session_end(id);
                     });
}

void subscriptions::on_session_end(compare::session_id id) {
    common_.forget(with_.at.session(id));
    if (sessions_.erase(id) > 0) with_.told.session_end(id);
}

}  // namespace holdfast::stores::zookeeper
