#include "simulation/server.hpp"

#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::microseconds;

// The wall clock from which a store that begins anew takes its sequences.
std::uint64_t wall(moment now) {
    constexpr std::uint64_t some_day = 1'700'000'000'000'000;
    return some_day + static_cast<std::uint64_t>(now.count() / 1'000);
}

}  // namespace

server::server(world& where, variant broken)
    : world_{where},
      broken_{std::move(broken)},
      offset_{where.random.below(1'000'000'000'000'000)} {
    begin_anew();
}

void server::begin_anew() {
    auto const first = wall(world_.time.now());
    machine_ = std::make_unique<stores::memory::machine>(first);
    if (broken_.store) odd_ = broken_.store(first);
}

seam::store_time server::clock(moment when) const noexcept {
    return seam::store_time{offset_ + std::chrono::duration_cast<microseconds>(when)};
}

seam::store_time server::now() const noexcept { return clock(world_.time.now()); }

moment server::when(seam::store_time shown) const noexcept {
    return shown.time_since_epoch() - offset_;
}

void server::receive(identity_ptr const& from, seam::request what, answer_to answer) {
    if (world_.time.now() >= silent_until_) return carry_out(from, std::move(what), answer);
    if (losing_) return;
    world_.time.at(silent_until_,
                   [this, from, what = std::move(what), answer] { receive(from, what, answer); });
}

void server::carry_out(identity_ptr const& from, seam::request what, answer_to const& answer) {
    if (broken_.tamper) broken_.tamper(world_.seen, now(), what);
    std::vector<stores::lease::directed_notice> notices;
    auto reply = odd_ != nullptr ? odd_->handle(from, what, now(), notices)
                                 : machine_->handle(from, what, now(), notices);
    world_.seen.saw(what, reply, notices);
    world_.tell([&](checker& it) { it.carried_out(what, reply); });
    for (auto& [to, notice] : notices)
        if (auto* const home = world_.find(to)) home->net().push(std::move(notice));
    answer(std::move(reply));
}

void server::fall_silent(moment until, bool lose) {
    silent_until_ = std::max(silent_until_, until);
    losing_ = lose;
}

void server::restart(bool empty) {
    if (empty) {
        world_.seen.forget_all();
        begin_anew();
        world_.tell([](checker& it) { it.emptied(); });
    }
    for (auto const& each : world_.clients)
        each->net().cut();
}

void server::jump(microseconds forward) { offset_ += forward; }

}  // namespace holdfast::simulation
