#include "quorum/world.hpp"

#include <algorithm>
#include <utility>

#include "quorum/client.hpp"

namespace holdfast::quorum_tests {

world::world(plan how)
    : plan_{how},
      random_{how.seed},
      quiet_from_{how.length - 16s},
      end_{how.length},
      servers_(how.members),
      cut_until_(how.clients, std::vector<nanos>(how.members)),
      known_lives_(how.clients, std::vector<std::uint64_t>(how.members)),
      promises_{!how.wipes || !how.hours_apart} {
    for (auto& each : servers_) {
        auto const sign = random_.one_in(2) ? 1.0 : -1.0;
        // Clocks of members differ by hours; where members forget what they granted, tokens rise only when it is by less
        // than they sit out.
        bool const near = plan_.wipes && !plan_.hours_apart;
        auto const apart = near ? nanos{plan_.longest_lease} / 134 : nanos{1h};
        each.time = {200'000h + apart * static_cast<std::int64_t>(random_.below(100)),
                     1 + sign * plan_.drift};
        each.store = std::make_unique<stores::memory::machine>(1);
        each.epoch = random_.next() | 1;
    }
    for (std::size_t i = 0; i < plan_.clients; ++i)
        clients_.push_back(std::make_unique<client>(*this, i));
}

world::~world() = default;

void world::at(nanos when, std::function<void()> what) {
    events_.push({when, ++order_, std::move(what)});
}

void world::violate(std::string words) {
    if (out_.violation.empty())
        out_.violation = "at " + std::to_string(now_.count() / 1'000'000) + " ms: " + words;
}

outcome world::run() {
    for (auto const& each : clients_)
        each->start();
    if (plan_.faults) plan_faults();
    while (!events_.empty() && out_.violation.empty()) {
        auto next = std::move(const_cast<event&>(events_.top()));
        events_.pop();
        if (next.when > end_) break;
        now_ = std::max(now_, next.when);
        next.what();
        if (!promises_.broken().empty()) violate(promises_.broken());
    }
    if (plan_.leaves_nothing) look_for_leftovers();
    for (std::size_t i = 0; i < clients_.size(); ++i)
        if (clients_[i]->served() == 0)
            violate("client " + std::to_string(i) + " was never served when all was well");
    return out_;
}

void world::look_for_leftovers() {
    for (auto& each : servers_) {
        std::vector<stores::lease::directed_notice> notices;
        auto const time = seam::store_time{
            std::chrono::duration_cast<std::chrono::microseconds>(each.time.at(end_))};
        auto const reply =
            each.store->handle(clients_.front()->self(), seam::inspect{}, time, notices);
        for (auto const& name : std::get<seam::page>(reply.body).names)
            if (!name.holders.empty()) violate("somebody has left " + name.name + " behind");
    }
}

// --- the network ---------------------------------------------------------------------------------

nanos world::delay() {
    if (plan_.faults && !is_quiet() && random_.one_in(60))
        return 50ms + nanos{random_.below(1'500'000'000)};
    return 100us + nanos{random_.below(3'000'000)};
}

// Every request has one answer, in the end a failure. What is lost is lost on the way there or back; what comes twice
// is answered once.
void world::send(std::size_t from, stores::quorum::outgoing request) {
    bool const risky = plan_.faults && !is_quiet();
    bool const cut = cut_until_[from][request.member] > now_;
    bool const lost = cut || (risky && random_.one_in(50));
    if (lost) {
        if (!cut && random_.one_in(2))
            at(now_ + delay(), [this, from, request] { arrive(from, request, true); });
        at(now_ + 1s, [this, from, member = request.member, id = request.id] {
            clients_[from]->on_reply(member, id,
                                     {{}, seam::failure{{errc::store_unavailable, "lost"}}});
        });
        return;
    }
    if (risky && random_.one_in(40))
        at(now_ + delay() + delay(), [this, from, request] { arrive(from, request, true); });
    at(now_ + delay(),
       [this, from, request = std::move(request)] { arrive(from, request, false); });
}

void world::arrive(std::size_t from, stores::quorum::outgoing const& request, bool copy) {
    auto& to = servers_[request.member];
    if (to.stopped_until > now_)
        return at(to.stopped_until + delay(),
                  [this, from, request, copy] { arrive(from, request, copy); });
    auto fails = [&](seam::clock_id clock) {
        if (!copy)
            answer(from, request.member, request.id,
                   {{}, seam::failure{{errc::store_unavailable, "refused"}}, clock});
    };
    if (!to.up) return fails({});
    seam::clock_id const clock{to.epoch};
    auto what = request.what;
    auto* const submit = std::get_if<seam::submit>(&what);
    auto const* const settle = std::get_if<seam::settle>(&what);
    bool const stale =
        (submit != nullptr && submit->clock != clock) ||
        (settle != nullptr && settle->clock != seam::clock_id{} && settle->clock != clock);
    if (stale) return fails(clock);
    if (submit != nullptr) {
        ++out_.votes;
        if (plan_.any_ballot) submit->repairs = true;
    }
    std::vector<stores::lease::directed_notice> notices;
    auto const time =
        seam::store_time{std::chrono::duration_cast<std::chrono::microseconds>(to.time.at(now_))};
    auto reply = to.store->handle(clients_[from]->self(), what, time, notices);
    reply.clock = clock;
    if (auto const* const no = std::get_if<seam::refused>(&reply.body);
        no != nullptr && no->why == seam::refusal::outvoted)
        ++out_.outvoted;
    for (auto& [whom, notice] : notices) {
        auto const place = static_cast<std::size_t>(whom) - 1;
        bool const cut = cut_until_[place][request.member] > now_;
        if (cut || (plan_.faults && random_.one_in(20))) continue;
        at(now_ + delay(), [this, place, member = request.member, notice] {
            clients_[place]->on_notice(member, notice);
        });
    }
    if (!copy) answer(from, request.member, request.id, std::move(reply));
}

void world::answer(std::size_t from, std::size_t member, seam::request_id id, seam::reply reply) {
    auto const longer =
        plan_.slow_answers > 0ns
            ? nanos{random_.below(static_cast<std::uint64_t>(plan_.slow_answers.count()))}
            : 0ns;
    at(now_ + delay() + longer,
       [this, from, member, life = servers_[member].life, id, reply = std::move(reply)] {
           deliver(from, member, life, id, reply);
       });
}

// A server that begins anew breaks its connections: nothing that it said before comes after what it says then, and its
// client has seen that.
void world::deliver(std::size_t to, std::size_t member, std::uint64_t life, seam::request_id id,
                    seam::reply reply) {
    using state = seam::session_changed::state;
    auto& known = known_lives_[to][member];
    if (life < known) reply = {{}, seam::failure{{errc::store_unavailable, "broken"}}};
    if (life > known) {
        known = life;
        for (auto const became : {state::in_doubt, state::restored})
            if (!plan_.unseen) clients_[to]->on_notice(member, seam::session_changed{became});
    }
    clients_[to]->on_reply(member, id, reply);
}

// --- faults --------------------------------------------------------------------------------------

void world::plan_faults() {
    for (nanos when = 2s; when < quiet_from_; when += 200ms + nanos{random_.below(3'000'000'000)})
        at(when, [this] { fault(); });
    at(quiet_from_, [this] {
        for (auto& each : servers_) {
            each.up = true;
            each.stopped_until = nanos{0};
        }
        for (auto& client : cut_until_)
            std::ranges::fill(client, nanos{0});
    });
}

void world::wipe(server& which) {
    which.store = std::make_unique<stores::memory::machine>(1);
    begin_anew(which);
    ++out_.wipes;
}

// Not every kind of server has another clock then.
void world::begin_anew(server& which) {
    if (plan_.same_clocks && random_.one_in(2))
        ++which.life;
    else
        which.epoch = random_.next() | 1;
}

void world::fault() {
    auto const how = random_.below(7);
    auto const span = 20ms + nanos{random_.below(2'500'000'000)};
    if (how > 3 && how < 6) return cut_off(2 * span);
    if (how == 6) {
        if (plan_.evicts)
            clients_[random_.below(clients_.size())]->evict(
                "n" + std::to_string(random_.below(plan_.names)));
        return;
    }
    auto const several = random_.one_in(4) ? 2 : 1;
    for (int i = 0; i < several; ++i)
        harm(random_.below(servers_.size()), how, span);
}

// One client from all members, or all clients from some of them, each from others.
void world::cut_off(nanos span) {
    if (plan_.partitions && random_.one_in(2)) {
        for (auto& client : cut_until_)
            for (auto& way : client)
                if (random_.one_in(3)) way = now_ + span;
        return;
    }
    for (auto& way : cut_until_[random_.below(cut_until_.size())])
        way = now_ + span;
}

void world::harm(std::size_t which, std::uint64_t how, nanos span) {
    auto& target = servers_[which];
    if (how == 0) {
        target.stopped_until = std::max(target.stopped_until, now_ + span);
        return;
    }
    target.up = false;
    if (how == 1 && plan_.wipes) wipe(target);
    if (how == 2 && plan_.restarts) begin_anew(target);  // restarted with its data
    auto const back = how == 1 ? span / 20 : span;
    at(now_ + back, [this, which] { servers_[which].up = true; });
}

}  // namespace holdfast::quorum_tests
