#include "simulation/parties/latch_party.hpp"

#include "core/task_context.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

// The same for everybody who comes to this latch.
std::uint32_t count_of(std::uint64_t round) {
    return 1 + static_cast<std::uint32_t>(round * 7 % 13);
}

}  // namespace

latch_party::latch_party(world& where, client& home, bool counts)
    : party{where, home}, counts_{counts} {
    enter(where.board.latch_round);
}

void latch_party::enter(std::uint64_t round) {
    round_ = round;
    world_.board.latch_round = std::max(world_.board.latch_round, round);
    core::latch_terms terms{"latch/" + std::to_string(round)};
    // Whoever only waits need not know the count, but somebody must.
    if (counts_ || world_.random.one_in(2)) terms.count = count_of(round);
    terms_ = std::make_shared<core::latch_terms const>(std::move(terms));
}

std::string latch_party::text() const {
    return world::name_of(home_) + (counts_ ? " counts down '" : " waits for '") + name() + "'";
}

std::optional<moment> latch_party::stuck_since() const {
    if (!waits_) return std::nullopt;
    return since_;
}

bool latch_party::is_hopeless() const {
    bool const may_be_closed = world_.plan.restarts > 0 || world_.board.latch_was_reset;
    return retired_ && !counts_ && may_be_closed;
}

void latch_party::start() {
    think([this] { go_on(); });
}

// The latch of one who only waits may be gone with the store, or closed again, and nobody counts it down.
void latch_party::retire() {
    party::retire();
    if (counts_) return;
    later(std::chrono::seconds{12}, [this] {
        if (errand_ != nullptr && is_hopeless()) errand_->stop();
    });
}

// Those who count see the last latch through: else the others could not.
void latch_party::go_on() {
    bool const last = !counts_ || round_ >= world_.board.latch_round;
    if (home_.closed() || is_hopeless() || (retired_ && finished_ && last)) {
        resting_ = true;
        return;
    }
    bool const latest = counts_ && !retired_ && round_ == world_.board.latch_round;
    if (latest && world_.random.one_in(finished_ ? 3 : 16)) return reset();
    if (finished_) {
        home_.engine()->unwatch(terms_->key(), home_.now());
        enter(round_ + 1);
        finished_ = false;
    }
    // Most who count wait only when they have seen the end.
    if (counts_ && (retired_ || !world_.random.one_in(6))) return count();
    wait();
}

void latch_party::run(core::task_call::body what, base::instant deadline,
                      std::function<void(errand::end const&)> then) {
    ++turn_;
    errand_ = std::make_unique<errand>(world_, home_, std::move(what));
    errand_->begin(deadline, [this, then = std::move(then)](errand::end const& how) {
        auto const ended = std::move(errand_);
        waits_ = false;
        then(how);
        think([this] { go_on(); });
    });
}

void latch_party::count() {
    n_ = retired_ ? count_of(round_) : 1 + static_cast<std::uint32_t>(world_.random.below(3));
    world_.note([&] { return text() + " by " + std::to_string(n_); });
    run(
        [this](core::task_context& on) {
            after_ = on.next_operation();
            return core::count_down_latch(on, terms_, n_, left_);
        },
        base::never,
        [this](errand::end const& how) {
            world_.report(count_ended{name(), after_, how.well()});
            if (how.well()) finished_ = left_ == 0;
        });
    world_.report(count_begun{name(), after_, count_of(round_), n_});
}

void latch_party::reset() {
    world_.note([&] { return world::name_of(home_) + " resets '" + name() + "'"; });
    finished_ = false;
    world_.board.latch_was_reset = true;
    run(
        [this](core::task_context& on) {
            after_ = on.next_operation();
            return core::reset_latch(on, terms_, count_of(round_));
        },
        base::never, [](errand::end const&) {});
    world_.report(reset_begun{name(), after_});
}

void latch_party::wait() {
    bool const limited = world_.percent(30);
    auto const deadline = limited ? home_.now() + world_.draw(milliseconds{300}) : base::never;
    bool const stops = world_.percent(20);
    waits_ = true;
    since_ = world_.time.now();
    bool* const through = &finished_;
    run([this,
         through](core::task_context& on) { return core::wait_for_latch(on, terms_, *through); },
        deadline,
        [this](errand::end const& how) {
            bool const lost = how.error == make_error_code(errc::lost);
            if (lost || (how.well() && finished_))
                world_.report(latch_passed{name(), since_, lost});
        });
    // One who counts must not wait for itself for ever.
    if (!stops && !counts_) return;
    later(world_.draw(milliseconds{200}), [this, mine = turn_] {
        if (mine == turn_ && errand_ != nullptr) errand_->stop();
    });
}

}  // namespace holdfast::simulation
