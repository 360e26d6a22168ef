#include "stores/redis/connections.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.hpp"
#include "base/text.hpp"
#include "stores/redis/fault.hpp"

namespace holdfast::stores::redis {

namespace {

// A server that only paused keeps its subscription when it goes on within this time.
constexpr std::chrono::milliseconds shortest_probe{250};

// By which the poller tells them apart.
enum role : net::poller::tag { for_commands, for_messages, for_replicas, count_of_roles };

// By which the server shows them.
std::string name_of(seam::identity const& self, char const* role) {
    return "holdfast-" + base::hex(static_cast<std::uint64_t>(self.id)) + "-" + role;
}

}  // namespace

connections::connections(std::shared_ptr<settings const> to, seam::identity const& self,
                         std::string channel, listeners who, net::poller& events)
    : to_{std::move(to)}, commands{to_,
                                   name_of(self, "commands"),
                                   who.of_commands,
                                   events,
                                   for_commands,
                                   base::entropy()} {
    commands.identify();
    if (!channel.empty())
        messages.emplace(to_, name_of(self, "messages"), std::move(channel), who.of_messages,
                         events, for_messages, base::entropy());
    if (to_->replicas > 0)
        replicas.emplace(to_, name_of(self, "replicas"), to_->prefix + "replicated",
                         std::move(who.of_replicas), events, for_replicas, base::entropy());
}

void connections::take(std::span<net::poller::event const> events, base::instant now) {
    std::array<bool, count_of_roles> ready{};
    for (auto const& each : events)
        ready[each.about] = true;
    if (ready[for_commands] || commands.has_more()) commands.on_ready(now);
    if (messages && (ready[for_messages] || messages->line().has_more())) messages->on_ready(now);
    if (replicas && (ready[for_replicas] || replicas->line().has_more()))
        replicas->line().on_ready(now);
}

bool connections::has_more() const noexcept {
    return commands.has_more() || (messages && messages->line().has_more()) ||
           (replicas && replicas->line().has_more());
}

void connections::tend(base::instant now) {
    commands.tend(now);
    if (messages) messages->tend(now);
    commands.flush(now);
    if (messages) messages->flush(now);
    if (replicas) replicas->tend(now);
}

base::instant connections::next_due() const noexcept {
    auto due = commands.next_due();
    if (messages) due = std::min(due, messages->next_due());
    if (replicas) due = std::min(due, replicas->line().next_due());
    return due;
}

// What befalls one connection nearly always befalls those beside it.
bool connections::leave_dead(std::chrono::milliseconds answer_within, base::instant now) {
    if (!commands.seems_dead(now)) return false;
    auto const why = unreachable("it fell silent; a fresh connection is tried", *to_);
    commands.cut(why, now);
    if (messages) messages->probe(std::max(2 * answer_within, shortest_probe), now);
    if (replicas) replicas->leave_idle_line(why, now);
    return true;
}

void connections::cut(base::error const& why, base::instant now) {
    commands.cut(why, now);
    if (messages) messages->line().cut(why, now);
    if (replicas) replicas->line().cut(why, now);
}

void connections::abandon() noexcept {
    commands.abandon();
    if (messages) messages->line().abandon();
    if (replicas) replicas->line().abandon();
}

}  // namespace holdfast::stores::redis
