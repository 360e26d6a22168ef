#include "simulation/lanes.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <variant>

namespace holdfast::simulation {

namespace {

using std::chrono::microseconds;

// The extremes mean "never" and "no bound" on every clock.
seam::store_time shifted(seam::store_time when, microseconds by) {
    bool const extreme = when == seam::store_time{} || when == seam::store_time::max();
    return extreme ? when : when + by;
}

// The name by which a request finds its lane; null for those that are about none.
struct name_in {
    std::string const* operator()(seam::submit const& it) const { return &it.subject.name(); }
    std::string const* operator()(seam::settle const& it) const { return &it.subject.name(); }
    std::string const* operator()(seam::convert const& it) const { return &it.subject.name(); }
    std::string const* operator()(seam::adjust const& it) const { return &it.subject.name(); }
    std::string const* operator()(seam::read const& it) const { return &it.key.name; }
    std::string const* operator()(seam::swap const& it) const { return &it.key.name; }
    std::string const* operator()(seam::watch const& it) const { return &it.key.name; }
    std::string const* operator()(seam::unwatch const& it) const { return &it.key.name; }
    std::string const* operator()(seam::evict const& it) const { return &it.name; }
    std::string const* operator()(seam::inspect const& it) const {
        return it.exact ? &it.prefix : nullptr;
    }
    std::string const* operator()(seam::hello const&) const { return nullptr; }
    std::string const* operator()(seam::renew const&) const { return nullptr; }
};

}  // namespace

lanes::lanes(profile const& plan, std::uint64_t seed, seam::store_time earliest)
    : earliest_{earliest},
      random_{seed ^ 0x6c616e6573ULL},
      lanes_(std::max<std::size_t>(1, plan.lanes)) {
    if (!several() && plan.clock_changes == 0) return;  // one clock for ever
    for (std::size_t i = 0; i < lanes_.size(); ++i)
        change(static_cast<seam::lane_id>(i));
}

// Of the size of a lease, where a wrong reading goes unnoticed for longest, or of hours.
microseconds lanes::draw_offset() {
    bool const close = random_.one_in(2);
    auto const most = static_cast<std::int64_t>(close ? 3'000'000 : 36'000'000'000);
    auto const drawn =
        static_cast<std::int64_t>(random_.below(2 * static_cast<std::uint64_t>(most))) - most;
    return std::max(microseconds{drawn}, -earliest_.time_since_epoch() / 2);
}

lanes::lane const& lanes::at(seam::lane_id which) const noexcept {
    return lanes_[static_cast<std::size_t>(which) % lanes_.size()];
}

seam::lane_id lanes::lane_of(std::string_view name) const noexcept {
    if (!several()) return {};
    return static_cast<seam::lane_id>(std::hash<std::string_view>{}(name) % lanes_.size());
}

seam::lane_id lanes::lane_of(seam::request const& what) const {
    if (auto const* const hello = std::get_if<seam::hello>(&what)) return hello->lane;
    if (auto const* const renew = std::get_if<seam::renew>(&what)) return renew->lane;
    auto const* const name = std::visit(name_in{}, what);
    return name != nullptr ? lane_of(*name) : seam::lane_id{};
}

lanes::source lanes::present(seam::lane_id of) const noexcept { return {of, at(of).clock}; }

bool lanes::fits(seam::request const& what) const {
    seam::clock_id named{};
    if (auto const* const submit = std::get_if<seam::submit>(&what)) named = submit->clock;
    if (auto const* const settle = std::get_if<seam::settle>(&what))
        if (settle->tombstone_until != seam::store_time{}) named = settle->clock;
    return named == seam::clock_id{} || named == present(lane_of(what)).clock;
}

void lanes::change(seam::lane_id which, std::optional<microseconds> ahead) {
    auto& one = lanes_[static_cast<std::size_t>(which)];
    one.clock = seam::clock_id{random_.next() | 1U};
    one.ahead = ahead ? *ahead : draw_offset();
}

void lanes::shift_in(seam::request& what) const {
    auto const by = -at(lane_of(what)).ahead;
    if (auto* const submit = std::get_if<seam::submit>(&what))
        submit->not_after = shifted(submit->not_after, by);
    if (auto* const settle = std::get_if<seam::settle>(&what))
        settle->tombstone_until = shifted(settle->tombstone_until, by);
}

void lanes::shift_out(seam::reply& answer, seam::lane_id of) const {
    auto const& one = at(of);
    answer.now += one.ahead;
    answer.clock = one.clock;
    if (auto* const granted = std::get_if<seam::granted>(&answer.body))
        granted->held.began += one.ahead;
    if (auto* const converted = std::get_if<seam::converted>(&answer.body))
        converted->held.began += one.ahead;
    if (auto* const renewed = std::get_if<seam::renewed>(&answer.body))
        for (auto& item : renewed->items)
            item.held.began += one.ahead;
}

void lanes::shift_out(seam::notice& what, seam::lane_id of) const {
    auto* const granted = std::get_if<seam::claim_granted>(&what);
    if (granted == nullptr) return;
    granted->held.began += at(of).ahead;
    granted->clock = at(of).clock;
}

}  // namespace holdfast::simulation
