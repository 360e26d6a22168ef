// Watches: names that change, and sessions that end.
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/driver.hpp"

namespace holdfast::stores::zookeeper {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds pause{500};  ///< after which a session is looked at again that could not be

}  // namespace

void driver::watch(compare::ticket which, compare::name_key key) {
    base::lock_guard const guard{mutex_};
    auto& watched = names_[key];
    watched.waiting.push_back(which);
    watch_head(key);
    settle();
}

// Told before it is watched again: whoever reads then reads behind that.
void driver::watch_head(compare::name_key const& key) {
    auto const path = paths_.name(key);
    watched_[path] = [this, key] {
        if (!names_.contains(key)) return;
        post([key](auto& to) { to.on_changed(key); });
        watch_head(key);
    };
    exists(
        path,
        [this, key](answer const& from) {
            auto const found = names_.find(key);
            if (found == names_.end()) return;
            bool const good = from.code == ZOK || from.code == ZNONODE;
            auto const waiting = std::exchange(found->second.waiting, {});
            bool const again = std::exchange(found->second.in_force, good);
            if (good && !again && waiting.empty()) post([key](auto& to) { to.on_changed(key); });
            for (auto const each : waiting)
                good ? tell(each, compare::in_force{}) : tell(each, judge(from));
            if (good) return;
            if (again)
                to_watch_.insert(key);
            else if (!waiting.empty())
                names_.erase(key);
            else
                to_watch_.insert(key);
        },
        true);
}

void driver::unwatch(compare::name_key key) noexcept {
    base::lock_guard const guard{mutex_};
    auto const found = names_.find(key);
    if (found == names_.end()) return;
    for (auto const each : found->second.waiting)
        tell(each, compare::in_force{});
    names_.erase(found);
    watched_.erase(paths_.name(key));
    settle();
}

void driver::note_clock(Stat const& from) {
    leader_time_ = milliseconds{from.mtime};
    leader_heard_ = base::boot_clock::now();
}

// When a session that is an end is over, by the wall clock of ZooKeeper's leader; a lower bound of its time is known.
base::instant driver::end_of(answer const& node) const {
    if (node.code != ZOK || node.stat.ephemeralOwner != 0) return base::never;
    auto const span = base::parse_number(node.data);
    if (!span) return base::never;
    auto const left = milliseconds{node.stat.ctime} +
                      milliseconds{static_cast<std::int64_t>(*span)} - leader_time_;
    return base::after(leader_heard_, left);
}

void driver::watch_session(compare::session_id id) {
    base::lock_guard const guard{mutex_};
    if (!sessions_.emplace(id, base::never).second) return;
    look_at_watched(id);
    settle();
}

void driver::unwatch_session(compare::session_id id) noexcept {
    base::lock_guard const guard{mutex_};
    sessions_.erase(id);
    watched_.erase(paths_.session(id));
}

void driver::look_at_watched(compare::session_id id) {
    auto const path = paths_.session(id);
    watched_[path] = [this, id] { look_at_watched(id); };
    get(
        path,
        [this, id, path](answer const& from) {
            auto const found = sessions_.find(id);
            if (found == sessions_.end()) return;
            auto const now = base::boot_clock::now();
            if (from.code == ZNONODE) return on_session_end(id);
            if (from.code != ZOK) return static_cast<void>(found->second = now + pause);
            found->second = end_of(from);
            if (found->second > now) return;
            found->second = now + pause;
            together({{.what = operation::kind::remove, .path = path}},
                     [this, id](answer const& gone) {
                         if (gone.code == ZOK || gone.code == ZNONODE) on_session_end(id);
                     });
        },
        true);
}

void driver::on_session_end(compare::session_id id) {
    watched_.erase(paths_.session(id));
    if (sessions_.erase(id) > 0) post([id](auto& to) { to.on_session_end(id); });
}

}  // namespace holdfast::stores::zookeeper
