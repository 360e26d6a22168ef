#include "stores/etcd/subscriptions.hpp"

#include <utility>

#include "stores/etcd/look.hpp"
#include "stores/etcd/reads.hpp"

namespace holdfast::stores::etcd {

namespace {

bool is_quiet(wire::Event const& event) {
    wire::Head head;
    return event.type() == wire::Event::PUT && head.ParseFromString(event.kv().value()) &&
           head.quiet();
}

}  // namespace

void subscriptions::watch(compare::ticket which, compare::name_key const& key) {
    auto& watched = names_[key];
    if (watched.in_force) return out_.tell(which, compare::in_force{});
    watched.waiting.push_back(which);
    if (watched.watch != 0) return;
    watched.watch =
        watches_.add({.range = {keys_.head(key), {}},
                      .on_event =
                          [this, key](wire::Event const& event) {
                              if (!is_quiet(event)) out_.changed(key);
                          },
                      .on_force =
                          [this, key](fault const& trouble, bool again) {
                              if (again) out_.gap();
                              auto const found = names_.find(key);
                              if (found == names_.end()) return;
                              found->second.in_force = !trouble;
                              auto const waiting = std::exchange(found->second.waiting, {});
                              if (trouble) names_.erase(found);
                              for (auto const each : waiting)
                                  trouble ? out_.fail(each, trouble.error, trouble.certain)
                                          : out_.tell(each, compare::in_force{});
                          }});
}

void subscriptions::unwatch(compare::name_key const& key) {
    auto const found = names_.find(key);
    if (found == names_.end()) return;
    watches_.remove(found->second.watch);
    for (auto const each : found->second.waiting)
        out_.tell(each, compare::in_force{});
    names_.erase(found);
}

void subscriptions::watch_session(compare::session_id id) {
    if (sessions_.contains(id)) return;
    sessions_[id] =
        watches_.add({.range = {keys_.session(id), {}},
                      .deletions_only = true,
                      .patient = true,
                      .on_event = [this, id](wire::Event const&) { on_session_end(id); },
                      .on_force =
                          [this, id](fault const& /*none: it is patient*/, bool again) {
                              if (again) out_.gap();
                              if (!sessions_.contains(id)) return;
                              looks_.want(id);
                              look_after_sessions(base::boot_clock::now());
                          }});
}

void subscriptions::unwatch_session(compare::session_id id) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return;
    watches_.remove(found->second);
    sessions_.erase(found);
    looks_.remove(id);
}

void subscriptions::on_ready(base::instant now) {
    looks_.hurry();
    look_after_sessions(now);
}

base::instant subscriptions::next_look() const noexcept {
    return connection_.is_ready() ? looks_.due() : base::never;
}

void subscriptions::look_after_sessions(base::instant now) {
    if (!connection_.is_ready()) return;
    auto due = looks_.take_due(now);
    if (due.empty()) return;
    range_requests wanted;
    for (auto const& each : due)
        wanted.push_back(range_for(each.id, false, keys_));
    read(connection_, std::move(wanted),
         [this, due = std::move(due)](fault const& trouble, range_responses& found, std::uint64_t) {
             if (trouble) return looks_.were_missed(due, base::boot_clock::now());
             looks_.were_found(due);
             for (std::size_t each = 0; each < due.size(); ++each)
                 if (found[each].count() == 0) on_session_end(due[each].id);
         });
}

void subscriptions::on_session_end(compare::session_id id) {
    if (!sessions_.contains(id)) return;
    unwatch_session(id);
    out_.session_end(id);
}

}  // namespace holdfast::stores::etcd
