#include <algorithm>
#include <utility>

#include "api/hold.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

single_hold::~single_hold() {
    if (!client_->at_home() || !let_go() || !is_last_) return;
    client_->loop().release_later(held_);
}

std::string const& single_hold::name() const noexcept { return held_->held_terms().spec->name; }

std::optional<std::uint64_t> single_hold::token(std::string_view name) const {
    if (name != this->name()) return std::nullopt;
    return token();
}

std::stop_token single_hold::lost() {
    client_->require_usable();
    return held_->lost();
}

std::string single_hold::loss_reason() const { return held_->loss_reason(boot_clock::now()); }

// A recursive hold ends with the last of its leases and locks.
bool single_hold::let_go() {
    bool first = false;
    std::call_once(left_, [&] {
        first = true;
        is_last_ = holders_ == nullptr || holders_->leave(held_);
    });
    return first;
}

std::shared_ptr<core::hold_state> single_hold::give_up() {
    return let_go() && is_last_ ? held_ : nullptr;
}

lease_state single_hold::state() const noexcept {
    if (known() == release_outcome::released) return lease_state::released;
    return held_->state(boot_clock::now());
}

std::optional<release_outcome> single_hold::known() const noexcept {
    auto const outcome = outcome_.load(std::memory_order_acquire);
    if (outcome == unknown_yet) return std::nullopt;
    return static_cast<release_outcome>(outcome);
}

release_outcome single_hold::release() {
    client_->require_usable();
    if (auto const outcome = known()) return *outcome;
    (void)let_go();
    if (!is_last_) return note(outcome_for_nested());
    // Beyond the hold's own end the answer could only be "already lost".
    auto const left =
        std::max<nanoseconds>(held_->lost_at() - boot_clock::now(), milliseconds{100});
    return note(client_->loop().release(held_, std::min<nanoseconds>(left, client_->patience())));
}

// Others hold it on: nobody asks the store.
release_outcome single_hold::outcome_for_nested() const noexcept {
    bool const lost = held_->state(boot_clock::now()) == lease_state::lost;
    return lost ? release_outcome::already_lost : release_outcome::released;
}

/// Deletes itself when the store has answered, or the lease is over.
class single_hold::releasing final : public core::completion {
public:
    releasing(std::shared_ptr<hold> self, release_handler then)
        : self_{std::move(self)}, then_{std::move(then)} {}

    void completed() noexcept override {
        self_->client().loop().post([this] { finish(); }, then_.anywhere);
    }

    core::release_call call{*this};

    void finish() {
        std::unique_ptr<releasing> const self{this};
        self_->single()->note(*call.outcome);
        then_({.value = *call.outcome, .origin = std::move(self_)});
    }

private:
    std::shared_ptr<hold> self_;
    release_handler const then_;
};

void single_hold::start_release(std::shared_ptr<hold> self, release_handler then) {
    auto* const release = new releasing{std::move(self), std::move(then)};
    (void)let_go();
    if (is_last_) return client_->loop().begin_release(held_, release->call);
    release->call.outcome = known().value_or(outcome_for_nested());
    client_->loop().post_or_run([release] { release->finish(); });
}

// The first word is kept.
release_outcome single_hold::note(release_outcome outcome) {
    int expected = unknown_yet;
    outcome_.compare_exchange_strong(expected, static_cast<int>(outcome));
    return *known();
}

lease_state single_hold::renew(std::optional<milliseconds> lease) {
    client_->require_usable();
    if (lease) {
        core::require_lease(*lease, held_->held_terms().grace);
        core::require_at_most(client_->longest_lease(), "lease", *lease);
    }
    client_->loop().renew(*held_, lease, client_->patience());
    return state();
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
