#include "simulation/user.hpp"

#include <algorithm>
#include <utility>

#include "core/claim_state.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

user::user(world& where, client& home, std::uint64_t number, habit its)
    : world_{where}, home_{home}, number_{number}, habit_{std::move(its)} {}

user::~user() = default;

void user::later(moment delay, std::function<void()> what) {
    home_.at(world_.time.now() + delay, std::move(what));
}

void user::start() {
    later(world_.draw(habit_.think), [this] { take_up(); });
}

void user::think() {
    if (retired_ || scripted) return;
    later(world_.draw(habit_.think) + std::chrono::microseconds{1}, [this] { take_up(); });
}

void user::take_up() {
    if (retired_ || call_ != nullptr || hold_ != nullptr) return;
    bool const wait = !world_.percent(habit_.tries);
    bool const limited = world_.percent(habit_.deadlines);
    auto const limit = world_.draw(habit_.deadline) + std::chrono::microseconds{100};
    acquire(wait, limited ? home_.now() + limit : base::never);
    if (call_ == nullptr || !world_.percent(habit_.stops)) return;
    later(world_.draw(habit_.deadline), [this, mine = turn_] {
        if (mine == turn_) stop_waiting();
    });
}

// --- acquiring ---------------------------------------------------------------------------------

call_record const* user::pending() const noexcept {
    return call_ != nullptr && call_->outcome == core::verdict::pending ? &record_ : nullptr;
}

void user::acquire(bool wait, base::instant deadline) {
    ++turn_;
    call_ = std::make_unique<core::acquire_call>(home_.queue_for(habit_.terms), end_);
    call_->wait = wait;
    call_->takes_offers = habit_.takes_offers;
    call_->actor = seam::actor_id{number_};
    record_ = {.number = ++world_.calls,
               .client = home_.index(),
               .terms = habit_.terms,
               .began = world_.time.now(),
               .wait = wait};
    if (deadline != base::never) record_.deadline = home_.clock().when(deadline);
    world_.note([&] {
        return world_.name_of(home_) + " user " + std::to_string(number_) +
               (wait ? " acquires '" : " tries '") + habit_.terms->spec->name + "' by call " +
               std::to_string(record_.number);
    });
    world_.tell([&](checker& it) { it.begun(record_); });
    if (world_.plan.in_process && habit_.terms->sharable() && enter_lane()) return;
    home_.engine()->begin(*call_, home_.now(), deadline);
}

// Takes up what its client has put aside, past the engine.
bool user::enter_lane() {
    auto const visit = call_->in->bias->enter(home_.now());
    if (visit.how == core::biased_hold::entry::stuck)
        home_.engine()->release(*call_->in, visit.generation, home_.now());
    if (visit.how != core::biased_hold::entry::yes) return false;
    biased_queue_ = call_->in;
    generation_ = visit.generation;
    call_->outcome = core::verdict::granted;
    call_->held = visit.where->held;
    on_completed();
    call_->held = nullptr;
    return true;
}

// Under the engine: only notes what happened. The thread runs a little later.
void user::on_completed() noexcept {
    ++record_.completions;
    if (vanished_ || !home_.alive()) return;
    record_.outcome = call_->outcome;
    record_.stalled_until = home_.stopped_until();
    world_.tell([&](checker& it) { it.completed(record_); });
    if (call_->outcome == core::verdict::granted) {
        ++holds_;
        hold_ = std::make_shared<local_hold>();
        hold_->client = home_.index();
        hold_->user = number_;
        hold_->claim = call_->held->held_by->subject.id;
        hold_->terms = habit_.terms;
        hold_->grant = call_->held;
        hold_->given = world_.time.now();
        hold_->contended = home_.knows_contended(hold_->claim);
        world_.enter(hold_);
    }
    later(world_.draw(habit_.wake), [this, mine = ++turn_] {
        if (mine == turn_) on_acquired();
    });
}

void user::on_nudged() noexcept {
    later(world_.draw(habit_.wake), [this, mine = turn_] {
        if (mine == turn_ && call_ != nullptr) home_.engine()->take_offer(*call_, home_.now());
    });
}

void user::on_acquired() {
    verdict_ = call_->outcome;
    error_ = call_->error;
    world_.note([&] {
        constexpr char const* words[] = {"pending", "granted", "busy", "failed", "stopped"};
        auto const outcome = static_cast<std::size_t>(call_->outcome);
        return world_.name_of(home_) + " user " + std::to_string(number_) + ": " + words[outcome] +
               (hold_ ? " with token " + std::to_string(hold_->grant->token() >> 8) + "." +
                            std::to_string(hold_->pass())
                      : " " + error_.text);
    });
    call_.reset();
    if (scripted && then) return then();
    if (hold_ == nullptr) return think();
    if (scripted) return;
    auto const work = world_.draw(habit_.hold);
    plan_changes(work);
    if (world_.percent(habit_.renews)) {
        later(world_.draw(work), [this, mine = turn_] {
            if (mine != turn_ || hold_ == nullptr) return;
            auto const lease = habit_.terms->spec->lease;
            std::optional<std::chrono::milliseconds> length;
            if (world_.percent(habit_.relengths)) length = lease / 2 + world_.draw_ms(lease * 2);
            // Into a session that others use.
            if (length && world_.plan.compares() && world_.random.one_in(2))
                length = world_.plan.lease_max;
            renew(length);
        });
    }
    later(work, [this, mine = turn_] {
        if (mine == turn_ && hold_ != nullptr) release(world_.percent(habit_.waits));
    });
}

void user::stop_waiting() {
    if (call_ == nullptr || call_->outcome != core::verdict::pending) return;
    home_.engine()->withdraw(*call_, home_.now());
}

// --- holding -----------------------------------------------------------------------------------

void user::renew(std::optional<std::chrono::milliseconds> lease) {
    auto& it = *renewals_.emplace_back(std::make_unique<renew_end>());
    home_.engine()->renew(*hold_->grant, lease, it.call, home_.now());
}

void user::plan_changes(moment work) {
    auto const some_time = [&](unsigned chance, auto what) {
        if (chance == 0 || !world_.percent(chance)) return;
        later(world_.draw(work), [this, mine = turn_, what] {
            if (mine == turn_ && hold_ != nullptr) what();
        });
    };
    some_time(habit_.weakens, [this] { weaken(); });
    some_time(habit_.limits, [this] {
        // Never below what somebody may want at once.
        set_limit(habit_.terms->spec->limit + static_cast<std::uint32_t>(world_.random.below(3)));
    });
}

void user::weaken() {
    auto const request = home_.engine()->weaken(*hold_->grant, habit_.weaker, home_.now());
    if (!request) return;
    world_.note([&] {
        return world_.name_of(home_) + " user " + std::to_string(number_) +
               " weakens its hold of '" + habit_.terms->spec->name + "'";
    });
    hold_->terms = habit_.weaker;
    ask(*request);
}

void user::set_limit(std::uint32_t limit) {
    ask(seam::adjust{{habit_.terms->spec, {}, {}}, limit});
}

void user::ask(seam::request what) {
    auto& it = *asked_.emplace_back(std::make_unique<ask_end>(std::move(what)));
    it.call.deadline = home_.now() + world_.plan.patience;
    home_.engine()->begin(it.call, home_.now());
}

void user::on_lost() {
    if (hold_ == nullptr || scripted || world_.percent(habit_.clings)) return;
    later(world_.draw(habit_.wake), [this, mine = turn_] {
        if (mine == turn_ && hold_ != nullptr) release(world_.percent(habit_.waits));
    });
}

void user::release(bool wait) {
    ++turn_;
    call_.reset();  // a loss may come before the thread has seen its grant
    auto const was = std::exchange(hold_, nullptr);
    was->at_release = was->grant->state(home_.now());
    world_.note([&] {
        return world_.name_of(home_) + " user " + std::to_string(number_) + " releases '" +
               habit_.terms->spec->name + "', " + to_string(was->at_release);
    });
    world_.leave(was);
    outcome_.reset();
    if (biased_queue_ != nullptr) {
        auto const through = std::exchange(biased_queue_, nullptr);
        was->grant = nullptr;  // the lane alone has it while it is put aside
        if (!through->bias->leave(generation_))
            home_.engine()->release(*through, generation_, home_.now());
        return think();
    }
    if (!wait) {
        home_.engine()->release(was->grant, home_.now());
        return think();
    }
    auto* const it = releases_.emplace_back(std::make_unique<release_end>(*this, was)).get();
    home_.engine()->release(was->grant, home_.now(), &it->call);
    if (it->done) return;
    // It waits for the hold's deadline or its patience, whichever is first.
    auto const patience = world_.draw(world_.plan.patience);
    later(patience, [this, it] {
        if (it->done) return;
        it->done = true;
        home_.engine()->withdraw(it->call);
        think();
    });
}

void user::on_answer(release_end& it) noexcept {
    it.done = true;
    outcome_ = it.call.outcome;
    if (vanished_ || !home_.alive()) return;
    world_.note([&] {
        return world_.name_of(home_) + " user " + std::to_string(number_) + " is answered " +
               to_string(*it.call.outcome);
    });
    world_.tell([&](checker& one) { one.answered(*it.of, *it.call.outcome); });
    think();
}

void user::vanish() {
    vanished_ = true;
    ++turn_;
    if (hold_ != nullptr) world_.leave(std::exchange(hold_, nullptr));
}

}  // namespace holdfast::simulation
