#include "simulation/parties/barrier_party.hpp"

#include "core/task_context.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

}  // namespace

barrier_party::barrier_party(world& where, client& home, std::size_t number)
    : party{where, home}, number_{number}, impatient_{where.random.one_in(5)} {
    auto const& plan = where.plan;
    seam::claim_spec spec{.name = "barrier/0", .kind = lock_kind::barrier};
    spec.mode = claim_mode::shared;
    lock_options options;
    options.lease =
        plan.lease_min + where.draw_ms(plan.lease_max - plan.lease_min + milliseconds{1});
    // As many as nearly all, so that those who die are missed.
    auto const parties = static_cast<std::uint32_t>(plan.clients * plan.users - plan.users + 1);
    terms_ = std::make_shared<core::barrier_terms const>(core::barrier_terms{
        parties, std::make_shared<core::terms const>(core::make_terms(std::move(spec), options))});
}

std::string barrier_party::text() const {
    return world::name_of(home_) + " party " + std::to_string(number_) + " at '" + terms_->name() +
           "'";
}

std::optional<moment> barrier_party::stuck_since() const {
    if (!arriving_ || over()) return std::nullopt;
    return since_;
}

void barrier_party::start() {
    think([this] { go_on(); });
}

void barrier_party::go_on() {
    if (!over() && errand_ == nullptr) arrive();
}

// The others may have gone home: nobody trips it any more.
void barrier_party::retire() {
    party::retire();
    later(std::chrono::seconds{2}, [this] {
        if (errand_ != nullptr) errand_->stop();
    });
}

void barrier_party::arrive() {
    ++turn_;
    auto const deadline = impatient_ && world_.percent(40)
                              ? home_.now() + world_.draw(milliseconds{400}) + milliseconds{1}
                              : base::never;
    world_.note([&] { return text() + " arrives, turn " + std::to_string(turn_); });
    arriving_ = true;
    since_ = world_.time.now();
    world_.report(arrival_begun{terms_->presence->spec, turn_});
    errand_ = std::make_unique<errand>(world_, home_, [this](core::task_context& on) {
        return core::arrive_at_barrier(on, terms_, generation_);
    });
    errand_->begin(deadline, [this](errand::end const& how) {
        auto const ended = std::move(errand_);
        on_arrived(how);
    });
    if (!impatient_ || !world_.percent(20)) return;
    later(world_.draw(milliseconds{200}), [this, mine = turn_] {
        if (mine == turn_ && errand_ != nullptr && arriving_) errand_->stop();
    });
}

void barrier_party::on_arrived(errand::end const& how) {
    arriving_ = false;
    world_.note([&] {
        return text() + ", turn " + std::to_string(turn_) +
               (how.stopped   ? ": stopped"
                : generation_ ? ": tripped generation " + std::to_string(*generation_)
                              : ": " + how.text);
    });
    world_.report(arrival_ended{terms_->presence->spec, turn_, generation_, how.error, how.text,
                                how.stopped});
    bool const broken = how.error == make_error_code(errc::broken_barrier);
    bool const by_reset = how.text.find("reset()") == std::string::npos;
    think([this, broken, by_reset] { broken && !by_reset ? reset() : go_on(); });
}

void barrier_party::reset() {
    if (over()) return;
    errand_ = std::make_unique<errand>(
        world_, home_, [this](core::task_context& on) { return core::reset_barrier(on, terms_); });
    world_.note([&] { return text() + " resets it"; });
    errand_->begin(base::never, [this](errand::end const&) {
        auto const ended = std::move(errand_);
        think([this] { go_on(); });
    });
}

}  // namespace holdfast::simulation
