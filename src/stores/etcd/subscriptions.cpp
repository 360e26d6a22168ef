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
                              if (trouble && found->second.in_force) out_.doubt(trouble.error.text);
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
    sessions_[id].watch =
        watches_.add({.range = {keys_.session(id), {}},
                      .deletions_only = true,
                      .patient = true,
                      .on_event = [this, id](wire::Event const&) { on_session_end(id); },
                      .on_force =
                          [this, id](fault const& trouble, bool again) {
                              if (again) out_.gap();
                              auto const found = sessions_.find(id);
                              if (found == sessions_.end()) return;
                              if (trouble) return static_cast<void>(sessions_.erase(found));
                              found->second.in_force = true;
                              found->second.seen = false;
                              look_after_sessions();
                          }});
}

void subscriptions::unwatch_session(compare::session_id id) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return;
    watches_.remove(found->second.watch);
    sessions_.erase(found);
}

// A watch tells what happens from now on: whether the session still lives is a question of its own, asked again when
// its answer was lost.
void subscriptions::look_after_sessions() {
    for (auto& [id, session] : sessions_) {
        if (!session.in_force || session.seen) continue;
        session.seen = true;
        read(connection_, {range_for(id, false, keys_)},
             [this, id = id](fault const& trouble, answers& found, std::uint64_t) {
                 auto const watched = sessions_.find(id);
                 if (watched == sessions_.end()) return;
                 if (trouble)
                     watched->second.seen = false;
                 else if (found.front().count() == 0)
                     on_session_end(id);
             });
    }
}

void subscriptions::on_session_end(compare::session_id id) {
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return;
    watches_.remove(found->second.watch);
    sessions_.erase(found);
    out_.session_end(id);
}

}  // namespace holdfast::stores::etcd
