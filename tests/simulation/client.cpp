#include "simulation/client.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulation/compare/family_client.hpp"
#include "simulation/engine_claims.hpp"
#include "simulation/party.hpp"
#include "simulation/user.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

drift_clock draw_clock(world& where) {
    auto const drift = where.plan.drift;
    auto const offset = std::chrono::nanoseconds{where.random.below(100'000'000'000'000'000)};
    auto const range = static_cast<std::uint64_t>(2 * drift + 1);
    // The extremes are where deadlines are tight.
    if (where.random.one_in(3)) return {offset, where.random.one_in(2) ? drift : -drift};
    return {offset, static_cast<std::int64_t>(where.random.below(range)) - drift};
}

}  // namespace

client::client(world& where, std::size_t index)
    : world_{where},
      index_{index},
      self_{std::make_shared<seam::identity>(
          seam::identity{seam::client_id{where.random.next()}, "host", 1, "c"})},
      clock_{draw_clock(where)},
      net_{where, *this},
      sessions_{where, *this} {
    core::engine::settings with;
    with.self = self_->id;
    with.abilities.line = where.plan.line;
    with.abilities.instant = with.abilities.parks = where.plan.in_process;
    with.abilities.per_claim_lease = !where.plan.session || where.broken.believes_in_leases;
    with.patience = where.plan.patience;
    with.request_timeout = where.plan.request_timeout;
    with.seed = where.random.next();
    with.judge = where.broken.judge;
    if (where.store.behind().several() && !where.broken.one_lane) {
        with.abilities.lanes = true;
        with.lane_of = [&where](std::string_view name) {
            return where.store.behind().lane_of(name);
        };
    }
    engine_ = std::make_unique<core::engine>(std::move(with));
    if (where.plan.compares()) family_ = std::make_unique<family_client>(where, *this);
}

client::~client() {
    alive_ = false;
    engine()->close(now());
    engine_.reset();  // before the users, whose calls it may know
}

base::instant client::now() const noexcept { return clock_.read(world_.time.now()); }

void client::at(moment when, std::function<void()> what) {
    world_.time.at(when, [this, what = std::move(what)]() mutable {
        if (!alive_) return;
        if (stopped_) return backlog_.push_back(std::move(what));
        what();
        pump();
    });
}

void client::hear(seam::request_id id, seam::reply const& reply) {
    world_.note([&] { return world_.name_of(*this) + " hears " + world_.words(id, reply); });
    learn(id, reply);
    // There the rules run at the client: what it was told is what was done.
    if (auto const ended = settling_.extract(id);
        family_ != nullptr && !ended.empty() && std::holds_alternative<seam::settled>(reply.body))
        world_.seen.gave_up(ended.mapped());
    engine()->on_reply(id, reply, now());
}

void client::hear(seam::notice const& what) {
    world_.note([&] { return world_.name_of(*this) + " is told " + world_.words(what); });
    if (auto const* const crowd = std::get_if<seam::name_contended>(&what)) {
        if (auto const found = contended_.find(crowd->id); found != contended_.end())
            found->second = true;
    } else if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        contended_.try_emplace(granted->id, granted->held.contended);
    }
    engine()->on_notice(what, now());
    auto const* const session = std::get_if<seam::session_changed>(&what);
    if (session != nullptr && session->became == seam::session_changed::state::lost)
        world_.tell([&](checker& it) { it.session_lost(session->claims); });
}

// Mirrors what the engine can know about others who wait, to judge what it does with it.
void client::learn(seam::request_id id, seam::reply const& reply) {
    auto const found = asked_.find(id);
    if (found == asked_.end()) return;
    auto const claims = std::move(found->second);
    asked_.erase(found);
    if (auto const* const granted = std::get_if<seam::granted>(&reply.body)) {
        contended_.try_emplace(claims.front(), granted->held.contended);
    } else if (auto const* const renewed = std::get_if<seam::renewed>(&reply.body)) {
        for (std::size_t i = 0; i < claims.size() && i < renewed->items.size(); ++i)
            if (renewed->items[i].found == seam::renewal::status::alive)
                contended_[claims[i]] = renewed->items[i].held.contended;
    }
}

bool client::knows_contended(seam::claim_id id) const {
    auto const found = contended_.find(id);
    return found != contended_.end() && found->second;
}

bool client::knows(seam::claim_id id) const { return knows_claim(*engine_, id); }

bool client::asks_about(seam::claim_id id) const {
    return std::ranges::any_of(settling_, [&](auto const& each) { return each.second == id; }) ||
           std::ranges::any_of(asked_, [&](auto const& each) {
               return std::ranges::find(each.second, id) != each.second.end();
           });
}

std::shared_ptr<core::wait_queue> client::queue_for(core::terms_ptr const& terms) {
    if (!terms->sharable()) return std::make_shared<core::wait_queue>(terms);
    for (auto const& each : lines_)
        if (each->terms->same_queue(*terms)) return each;
    return lines_.emplace_back(std::make_shared<core::wait_queue>(terms, world_.plan.in_process));
}

void client::remember(core::engine::outgoing const& out) {
    world_.note([&] { return world_.name_of(*this) + " sends " + world_.words(out); });
    world_.tell([&](checker& it) { it.sent(*this, out.what); });
    if (auto const* const settle = std::get_if<seam::settle>(&out.what))
        settling_.emplace(out.id, settle->subject.id);
    if (auto const* const submit = std::get_if<seam::submit>(&out.what)) {
        asked_[out.id] = {submit->subject.id};
    } else if (auto const* const renew = std::get_if<seam::renew>(&out.what)) {
        auto& claims = asked_[out.id];
        for (auto const& item : renew->items) {
            claims.push_back(item.subject.id);
            world_.tell([&](checker& it) { it.renewal_sent(item.subject.id); });
        }
    }
}

void client::send(core::engine::outgoing out) {
    remember(out);
    if (family_ != nullptr) return family_->send(out.id, out.what);
    if (!world_.plan.in_process) return net_.send(std::move(out));
    world_.store.receive(self_, std::move(out.what),
                         [this, id = out.id](seam::reply const& reply) { hear(id, reply); });
}

void client::pump() {
    core::engine::actions todo;
    for (;;) {
        auto more = std::exchange(engine_->todo(), {});
        std::ranges::move(more.losses, std::back_inserter(todo.losses));
        std::ranges::move(more.questions, std::back_inserter(todo.questions));
        std::ranges::move(more.jobs, std::back_inserter(todo.jobs));
        std::vector<core::engine::outgoing> requests;
        more.requests.pop_all(requests);
        if (requests.empty()) break;
        for (auto& out : requests)
            send(std::move(out));
    }
    for (auto const& grant : todo.losses)
        world_.announce(*grant);
    for (auto const& job : todo.jobs)
        job();
    for (auto const& question : todo.questions) {
        at(world_.time.now() + world_.draw(std::chrono::milliseconds{1}), [this, question] {
            engine()->answer_retry(question.ticket, question.policy_of->retry(question.about),
                                   now());
        });
    }
    arm();
}

void client::arm() {
    auto const due = engine_->next_due();
    if (due == armed_for_) return;
    armed_for_ = due;
    auto const mine = ++timer_;
    if (due == base::never) return;
    auto const late = world_.draw(world_.plan.timer_lateness);
    at(std::max(clock_.when(due), world_.time.now()) + late, [this, mine] {
        if (mine != timer_) return;
        armed_for_ = base::never;
        engine()->on_time(now());
    });
}

void client::skew(std::int64_t drift) {
    clock_.change_rate(world_.time.now(), drift);
    armed_for_ = base::never;
    arm();
}

void client::pause(moment until) {
    if (!alive_ || stopped_) return;
    world_.note([&] { return world_.name_of(*this) + " is stopped"; });
    stopped_ = true;
    stopped_until_ = until;
    world_.time.at(until, [this] { resume(); });
}

void client::resume() {
    if (!alive_ || !stopped_) return;
    world_.note([&] { return world_.name_of(*this) + " goes on"; });
    stopped_ = false;
    stopped_until_ = world_.time.now();
    // Its timer thread or its I/O may be the first to run.
    if (world_.random.one_in(2)) {
        engine()->on_time(now());
        pump();
    }
    for (auto const& what : std::exchange(backlog_, {})) {
        what();
        pump();
    }
}

void client::kill() {
    if (!alive_) return;
    world_.note([&] { return world_.name_of(*this) + " is killed"; });
    alive_ = false;
    backlog_.clear();
    for (auto const& each : users)
        each->vanish();
    for (auto const& each : parties)
        each->vanish();
}

void client::close() {
    closed_ = true;
    for (auto const& each : users)
        each->retire();
    for (auto const& each : parties)
        each->retire();
    engine()->close(now());
}

}  // namespace holdfast::simulation
