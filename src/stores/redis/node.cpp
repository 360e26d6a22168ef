#include "stores/redis/node.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

node::node(std::shared_ptr<settings const> to, seam::lane_id lane, std::string const& name,
           owner& of, std::function<std::string()> key, net::poller& events, tags about)
    : to_{std::move(to)}, lane_{lane}, owner_{of}, about_{about}, commands{to_,
                                                                           name + "-commands",
                                                                           *this,
                                                                           events,
                                                                           about.commands,
                                                                           base::entropy()} {
    commands.vet(true);
    if (to_->replicas > 0)
        replicas.emplace(
            to_, name + "-replicas", std::move(key),
            [&of](replication::news what) { of.on_confirmed(std::move(what)); }, events,
            about.replicas, base::entropy());
}

void node::take(net::poller::tag ready, base::instant now) {
    if (ready == about_.commands) commands.on_ready(now);
    if (ready == about_.replicas && replicas) replicas->line().on_ready(now);
}

bool node::has_more() const noexcept {
    return commands.has_more() || (replicas && replicas->line().has_more());
}

void node::tend(base::instant now) {
    commands.tend(now);
    commands.flush(now, true);
    if (replicas) replicas->tend(now);
}

base::instant node::next_due() const noexcept {
    auto const due = commands.next_due();
    return replicas ? std::min(due, replicas->line().next_due()) : due;
}

// What befalls one connection nearly always befalls those beside it.
bool node::leave_dead(base::instant now) {
    if (!commands.seems_dead(now)) return false;
    auto const why = unreachable("it fell silent; a fresh connection is tried", *to_);
    commands.cut(why, now);
    if (replicas) replicas->leave_idle_line(why, now);
    return true;
}

void node::cut(base::error const& why, base::instant now) {
    commands.cut(why, now);
    if (replicas) replicas->line().cut(why, now);
}

void node::end(base::error const& why, base::instant now) {
    commands.cut(why, now);
    if (replicas) replicas->end(why, now);
}

void node::abandon() noexcept {
    commands.abandon();
    if (replicas) replicas->line().abandon();
}

void node::on_push(answer const&) { throw garbled{"an answer came that nobody asked for"}; }

}  // namespace holdfast::stores::redis
