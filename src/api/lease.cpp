#include <algorithm>
#include <utility>

#include <holdfast/lease.hpp>

#include "api/hold.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {

namespace {

constexpr char const* state_names[] = {"held", "in doubt", "lost", "released"};
constexpr char const* outcome_names[] = {"released", "already lost", "unknown"};

}  // namespace

char const* to_string(lease_state state) noexcept { return state_names[static_cast<int>(state)]; }

char const* to_string(release_outcome outcome) noexcept {
    return outcome_names[static_cast<int>(outcome)];
}

lease::lease() noexcept = default;
lease::lease(lease&&) noexcept = default;
lease& lease::operator=(lease&&) noexcept = default;
lease::~lease() = default;

lease::lease(std::shared_ptr<detail::hold> hold) noexcept : hold_{std::move(hold)} {}

std::shared_ptr<detail::hold> const& lease::shared_state() const noexcept { return hold_; }

std::uint64_t lease::token() const noexcept { return hold_ ? hold_->token() : 0; }

std::uint64_t lease::token(std::string_view name) const {
    auto const found = hold_ ? hold_->token(name) : std::nullopt;
    if (!found) base::raise(errc::bad_name, "this lease does not hold '" + std::string{name} + "'");
    return *found;
}

std::stop_token lease::lost() const { return hold_ ? hold_->lost() : std::stop_token{}; }

std::string lease::loss_reason() const { return hold_ ? hold_->loss_reason() : std::string{}; }

lease_state lease::state() const noexcept { return hold_ ? hold_->state() : lease_state::released; }

bool lease::held() const noexcept {
    auto const current = state();
    return current == lease_state::held || current == lease_state::in_doubt;
}

std::chrono::milliseconds lease::remaining() const noexcept {
    using std::chrono::milliseconds;
    if (!held()) return milliseconds::zero();
    auto const left = hold_->lost_at() - base::boot_clock::now();
    return std::max(milliseconds::zero(), std::chrono::floor<milliseconds>(left));
}

lease_state lease::renew(std::optional<std::chrono::milliseconds> length) {
    return hold_ ? hold_->renew(length) : lease_state::released;
}

release_outcome lease::release() {
    return hold_ ? hold_->release() : release_outcome::already_lost;
}

std::string lease::name() const { return hold_ ? hold_->name() : std::string{}; }

}  // namespace v1
}  // namespace holdfast
