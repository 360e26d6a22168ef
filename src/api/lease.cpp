#include <algorithm>
#include <utility>

#include <holdfast/lease.hpp>

#include "api/hold.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {

namespace detail {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

hold::~hold() {
    if (let_go_ || !client_->at_home() || !last_of_recursion()) return;
    client_->loop().release_later(grant_);
}

// A recursive hold ends with the last of its leases and locks.
bool hold::last_of_recursion() {
    if (site_ == nullptr) return true;
    std::lock_guard const guard{client_->loop().mutex()};
    auto& all = site_->holdings;
    auto const mine = std::ranges::find(all, grant_, &site::holding::grant);
    if (mine == all.end()) return false;
    if (--mine->count > 0) return false;
    all.erase(mine);
    return true;
}

lease_state hold::state() const noexcept {
    {
        std::lock_guard const guard{mutex_};
        if (let_go_ && outcome_ == release_outcome::released) return lease_state::released;
    }
    return grant_->state(boot_clock::now());
}

release_outcome hold::release() {
    client_->require_usable();
    std::lock_guard const turn{releasing_};  // who comes second repeats what the first was told
    {
        std::lock_guard const guard{mutex_};
        if (let_go_) {
            if (outcome_) return *outcome_;
        } else {
            let_go_ = true;
            if (!last_of_recursion()) {
                bool const held = grant_->state(boot_clock::now()) != lease_state::lost;
                return *(outcome_ =
                             held ? release_outcome::released : release_outcome::already_lost);
            }
        }
    }
    // Beyond the hold's own end the answer could only be "already lost".
    auto const left =
        std::max<nanoseconds>(grant_->lost_at() - boot_clock::now(), milliseconds{100});
    auto const outcome =
        client_->loop().release(grant_, std::min<nanoseconds>(left, client_->patience()));
    std::lock_guard const guard{mutex_};
    return *(outcome_ = outcome);
}

void hold::release_with(core::release_call& call) {
    bool last = false;
    {
        std::lock_guard const guard{mutex_};
        last = !std::exchange(let_go_, true) && last_of_recursion();
    }
    if (last) return client_->loop().begin_release(grant_, call);
    call.outcome = outcome_.value_or(state() == lease_state::lost ? release_outcome::already_lost
                                                                  : release_outcome::released);
    call.to->completed();
}

void hold::note(release_outcome outcome) {
    std::lock_guard const guard{mutex_};
    if (!outcome_) outcome_ = outcome;
}

lease_state hold::renew(std::optional<milliseconds> lease) {
    client_->require_usable();
    if (lease && *lease < milliseconds{20})
        base::raise(errc::bad_option,
                    "lease must be at least 20 ms, not " + std::to_string(lease->count()) + " ms");
    client_->loop().renew(*grant_, lease, client_->patience());
    return state();
}

}  // namespace detail

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

std::uint64_t lease::token() const noexcept { return hold_ ? hold_->grant().token() : 0; }

std::uint64_t lease::token(std::string_view name) const {
    if (hold_ == nullptr || hold_->grant().its_terms().spec->name != name)
        base::raise(errc::bad_name, "this lease does not hold '" + std::string{name} + "'");
    return token();
}

std::stop_token lease::lost() const { return hold_ ? hold_->grant().lost() : std::stop_token{}; }

std::string lease::loss_reason() const {
    return hold_ ? hold_->grant().loss_reason(base::boot_clock::now()) : std::string{};
}

lease_state lease::state() const noexcept { return hold_ ? hold_->state() : lease_state::released; }

bool lease::held() const noexcept {
    auto const now = state();
    return now == lease_state::held || now == lease_state::in_doubt;
}

std::chrono::milliseconds lease::remaining() const noexcept {
    using std::chrono::milliseconds;
    if (!held()) return milliseconds::zero();
    auto const left = hold_->grant().lost_at() - base::boot_clock::now();
    return std::max(milliseconds::zero(), std::chrono::floor<milliseconds>(left));
}

lease_state lease::renew(std::optional<std::chrono::milliseconds> length) {
    return hold_ ? hold_->renew(length) : lease_state::released;
}

release_outcome lease::release() {
    return hold_ ? hold_->release() : release_outcome::already_lost;
}

std::string lease::name() const {
    return hold_ ? hold_->grant().its_terms().spec->name : std::string{};
}

}  // namespace v1
}  // namespace holdfast
