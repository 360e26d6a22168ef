#include "simulation/world.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

world::world(std::uint64_t seed, profile its_plan, variant its_variant, trace_mode trace)
    : broken{std::move(its_variant)},
      plan{its_plan},
      random{seed},
      store{*this, broken},
      trace_{trace} {
    if (plan.compares()) store.begin_documents();
}

world::~world() = default;

client& world::add_client() {
    return *clients.emplace_back(std::make_unique<client>(*this, clients.size()));
}

user& world::add_user(client& home, habit its) {
    auto const number = home.users.size();
    return *home.users.emplace_back(std::make_unique<user>(*this, home, number, std::move(its)));
}

client* world::find(seam::client_id id) noexcept {
    auto const found =
        std::ranges::find_if(clients, [&](auto const& each) { return each->self()->id == id; });
    return found == clients.end() ? nullptr : found->get();
}

void world::run_until(moment end) {
    while (!failed_ && time.step(end)) {}
}

moment world::draw(moment most) {
    if (most.count() <= 0) return moment{0};
    return moment{random.below(static_cast<std::uint64_t>(most.count()))};
}

std::chrono::milliseconds world::draw_ms(std::chrono::milliseconds most) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(draw(most));
}

void world::fail(std::string const& who, std::string words) {
    if (failed_) return;
    failed_ = failure{who, std::move(words), time.now()};
    note([&] { return "BROKEN: " + who + ": " + failed_->words; });
}

void checker::fail(std::string words) { world_.fail(name(), std::move(words)); }

void world::enter(std::shared_ptr<local_hold> const& hold) {
    hold->forsaken = forsaken_.contains(hold->claim);
    holds_.push_back(hold);
    tell([&](checker& it) { it.given(*hold); });
}

void world::leave(std::shared_ptr<local_hold> const& hold) {
    hold->let_go = true;
    tell([&](checker& it) { it.let_go(*hold); });
    std::erase(holds_, hold);
}

void world::announce(core::hold_state const& lost) {
    auto const found =
        std::ranges::find_if(holds_, [&](auto const& each) { return each->grant.get() == &lost; });
    if (found == holds_.end()) return;
    auto const hold = *found;
    hold->told = true;
    note([&] {
        if (hold->of != nullptr) return hold->of->text() + " is told of a loss";
        return name_of(*clients[hold->client]) + " user " + std::to_string(hold->user) +
               " is told that it lost '" + hold->terms->spec->name + "'";
    });
    tell([&](checker& it) { it.told(*hold); });
    if (hold->of != nullptr) return hold->of->on_lost(*hold);
    clients[hold->client]->users[hold->user]->on_lost();
}

void world::forsake(seam::claim_id id) {
    for (auto const& each : holds_)
        if (each->claim == id) each->forsaken = true;
    forsaken_.insert(id);
}

bool world::believed(local_hold const& hold) const {
    if (hold.let_go) return false;
    auto const state = hold.grant->state(clients[hold.client]->now());
    return state == lease_state::held || state == lease_state::in_doubt;
}

}  // namespace holdfast::simulation
