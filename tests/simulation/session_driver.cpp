#include "simulation/session_driver.hpp"

#include <algorithm>
#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using state = seam::session_changed::state;

// Several heartbeats fit into the time-out.
constexpr int beats_per_lease = 4;

}  // namespace

session_ref session_driver::session_for(seam::claim const& subject) {
    auto const lease = world_.plan.given(subject.spec->lease);
    auto& one = sessions_[lease];
    if (one.ref.number == 0) {
        one = {.ref = {world_.store.next_session(), lease}};
        keep(one.ref.number);
    }
    // It may have been submitted in an earlier session, which has ended.
    one.claims.insert(subject.id);
    return one.ref;
}

session_driver::session* session_driver::find(std::uint64_t number) {
    auto const found = std::ranges::find_if(
        sessions_, [&](auto const& each) { return each.second.ref.number == number; });
    return found == sessions_.end() ? nullptr : &found->second;
}

// A client that was closed has ended its sessions with it.
void session_driver::keep(std::uint64_t number) {
    auto* const one = find(number);
    if (one == nullptr || client_.closed()) return;
    moment const every = moment{one->ref.lease} / beats_per_lease;
    if (one->asked != moment{0} && world_.time.now() - one->asked >= every)
        doubt(*one, "the store is silent");
    beat(*one);
    client_.at(world_.time.now() + every, [this, number] { keep(number); });
}

void session_driver::beat(session& one) {
    if (one.asked == moment{0}) one.asked = std::max(world_.time.now(), moment{1});
    client_.net().beat(one.ref,
                       [this, number = one.ref.number](bool alive) { heard(number, alive); });
}

void session_driver::heard(std::uint64_t number, bool alive) {
    auto* const one = find(number);
    if (one == nullptr) return;
    if (alive) {
        one->asked = moment{0};
        if (std::exchange(one->doubted, false)) tell(*one, state::restored, "the store is back");
        return;
    }
    auto const was = std::move(*one);
    sessions_.erase(was.ref.lease);
    over_.insert(number);
    tell(was, state::lost, "the session has ended");
    client_.net().fail_session(number);
}

void session_driver::doubt(session& one, char const* why) {
    if (!std::exchange(one.doubted, true)) tell(one, state::in_doubt, why);
}

void session_driver::disconnected() {
    for (auto& [lease, one] : sessions_) {
        doubt(one, "the connection was cut");
        beat(one);
    }
}

// Nobody would mean everybody.
void session_driver::tell(session const& one, state became, std::string why) {
    if (one.claims.empty()) return;
    client_.hear(
        seam::session_changed{became, std::move(why), {one.claims.begin(), one.claims.end()}});
}

}  // namespace holdfast::simulation
