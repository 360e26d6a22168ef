#include "simulation/parties/collector.hpp"

#include <utility>

#include "core/claim_state.hpp"
#include "core/collecting.hpp"
#include "core/task_context.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

// What must never be: waits for the second while it holds the first.
core::task hold_and_wait(core::task_context& on,
                         std::vector<std::shared_ptr<core::wait_queue>> lines,
                         std::vector<std::shared_ptr<core::hold_state>>& held) {
    held.clear();
    for (auto const& queue : lines) {
        std::vector<std::shared_ptr<core::wait_queue>> one{queue};
        auto calls = co_await on.acquire(std::move(one), true);
        if (calls.front()->held != nullptr) held.push_back(calls.front()->held);
    }
}

core::terms_ptr draw_terms(world& where, std::string const& label, std::size_t name) {
    auto const& plan = where.plan;
    seam::claim_spec spec{.name = "lock/" + std::to_string(name)};
    if (where.random.one_in(4)) spec.mode = claim_mode::shared;
    lock_options options;
    options.lease =
        plan.lease_min + where.draw_ms(plan.lease_max - plan.lease_min + milliseconds{1});
    options.label = label;
    if (where.random.one_in(4)) options.order = ordering::fair;
    return std::make_shared<core::terms const>(core::make_terms(std::move(spec), options));
}

}  // namespace

collector::collector(world& where, client& home, std::size_t number)
    : party{where, home}, label_{world::name_of(home) + " collector " + std::to_string(number)} {
    for (std::size_t name = 0; name < where.plan.names; ++name)
        terms_.push_back(draw_terms(where, label_, name));
}

void collector::start() {
    think([this] { go_on(); });
}

// Two of the names at least, in any order.
std::vector<std::shared_ptr<core::wait_queue>> collector::draw_lines() {
    auto rest = terms_;
    std::vector<std::shared_ptr<core::wait_queue>> out;
    auto const count = 2 + world_.random.below(rest.size() - 1);
    while (out.size() < count) {
        auto const next =
            rest.begin() + static_cast<std::ptrdiff_t>(world_.random.below(rest.size()));
        out.push_back(home_.queue_for(*next));
        rest.erase(next);
    }
    return out;
}

core::task_call::body collector::script_for(std::vector<std::shared_ptr<core::wait_queue>> lines,
                                            bool wait) {
    bool const badly = world_.broken.holds_and_waits;
    return [this, lines = std::move(lines), wait, badly](core::task_context& on) {
        return badly ? hold_and_wait(on, lines, got_) : core::acquire_all(on, lines, wait, got_);
    };
}

void collector::go_on() {
    if (over()) return;
    ++turn_;
    auto lines = draw_lines();
    wanted_ = lines.size();
    world_.note([&] {
        auto words = label_ + " wants";
        for (auto const& queue : lines)
            words += " '" + queue->terms->spec->name + "'";
        return words;
    });
    bool const wait = !world_.percent(15);
    auto const deadline =
        wait && world_.percent(20) ? home_.now() + world_.draw(milliseconds{400}) : base::never;
    errand_ = std::make_unique<errand>(world_, home_, script_for(std::move(lines), wait));
    errand_->at_once = [this] { take_up(); };
    errand_->begin(deadline, [this](errand::end const& how) {
        auto const ended = std::move(errand_);
        world_.note([&] {
            return label_ + (holds_.empty() ? " has nothing " + how.text : " has them all");
        });
        if (holds_.empty()) return think([this] { go_on(); });
        later(world_.draw(milliseconds{world_.random.one_in(5) ? 200 : 10}), [this, mine = turn_] {
            if (mine == turn_) let_go();
        });
    });
    if (!world_.percent(10)) return;
    later(world_.draw(milliseconds{100}), [this, mine = turn_] {
        if (mine == turn_ && errand_ != nullptr && errand_->pending()) errand_->stop();
    });
}

// Under the engine: only notes what it was given.
void collector::take_up() {
    if (!got_.empty() && got_.size() != wanted_)
        world_.fail("together", label_ + " was given some of what it wanted");
    for (auto& each : got_) {
        if (each->held_by == nullptr) continue;  // lost on the way
        auto hold = std::make_shared<local_hold>();
        hold->client = home_.index();
        hold->of = this;
        hold->claim = each->held_by->subject.id;
        hold->terms = each->held_by->terms;
        hold->grant = each;
        hold->given = world_.time.now();
        holds_.push_back(hold);
        world_.enter(hold);
    }
}

void collector::on_lost(local_hold const&) {
    if (holds_.empty() || errand_ != nullptr) return;
    later(world_.draw(milliseconds{1}), [this, mine = turn_] {
        if (mine == turn_) let_go();
    });
}

void collector::let_go() {
    ++turn_;
    for (auto const& each : std::exchange(holds_, {})) {
        each->at_release = each->grant->state(home_.now());
        world_.leave(each);
    }
    for (auto const& each : std::exchange(got_, {}))
        home_.engine()->release(each, home_.now());
    think([this] { go_on(); });
}

void collector::vanish() {
    ++turn_;
    for (auto const& each : std::exchange(holds_, {}))
        world_.leave(each);
}

}  // namespace holdfast::simulation
