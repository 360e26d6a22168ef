#include <algorithm>
#include <array>
#include <utility>

#include "api/hold.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

using base::boot_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

// The lock under which a hold is released: a few for all, since releases rarely meet. Who holds one
// never takes another.
std::mutex& turn_of(single_hold const& it) noexcept {
    static std::array<std::mutex, 64> all;
    return all[std::hash<single_hold const*>{}(&it) / 64 % all.size()];
}

}  // namespace

single_hold::~single_hold() {
    if (let_go_ || !client_->at_home() || !last_of_recursion()) return;
    client_->loop().release_later(grant_);
}

std::string const& single_hold::name() const noexcept { return grant_->its_terms().spec->name; }

std::optional<std::uint64_t> single_hold::token(std::string_view name) const {
    if (name != this->name()) return std::nullopt;
    return token();
}

std::string single_hold::loss_reason() const { return grant_->loss_reason(boot_clock::now()); }

// A recursive hold ends with the last of its leases and locks.
bool single_hold::last_of_recursion() {
    if (site_ == nullptr) return true;
    std::lock_guard const guard{client_->loop().mutex()};
    auto& all = site_->holdings;
    auto const mine = std::ranges::find(all, grant_, &site::holding::grant);
    if (mine == all.end()) return false;
    if (--mine->count > 0) return false;
    all.erase(mine);
    return true;
}

std::shared_ptr<core::grant> single_hold::give_up() {
    if (let_go_.exchange(true) || !last_of_recursion()) return nullptr;
    return grant_;
}

lease_state single_hold::state() const noexcept {
    if (ended_.load(std::memory_order_acquire) && outcome_ == release_outcome::released)
        return lease_state::released;
    return grant_->state(boot_clock::now());
}

release_outcome single_hold::release() {
    client_->require_usable();
    std::lock_guard const turn{turn_of(*this)};  // who comes second repeats what the first was told
    if (ended_.load(std::memory_order_acquire)) return outcome_;
    if (!let_go_.exchange(true) && !last_of_recursion()) {
        bool const held = grant_->state(boot_clock::now()) != lease_state::lost;
        return note(held ? release_outcome::released : release_outcome::already_lost);
    }
    // Beyond the hold's own end the answer could only be "already lost".
    auto const left =
        std::max<nanoseconds>(grant_->lost_at() - boot_clock::now(), milliseconds{100});
    return note(client_->loop().release(grant_, std::min<nanoseconds>(left, client_->patience())));
}

/// Deletes itself when the store has answered, or the lease is over.
class single_hold::releasing final : public core::completion {
public:
    releasing(std::shared_ptr<hold> self, std::function<void(release_outcome)> then)
        : self_{std::move(self)}, then_{std::move(then)} {}

    void completed() noexcept override {
        self_->client().loop().post([this] { finish(); });
    }

    core::release_call call{*this};

private:
    void finish() {
        std::unique_ptr<releasing> const self{this};
        self_->single()->note(*call.outcome);
        then_(*call.outcome);
    }

    std::shared_ptr<hold> const self_;
    std::function<void(release_outcome)> const then_;
};

void single_hold::start_release(std::shared_ptr<hold> self,
                                std::function<void(release_outcome)> then) {
    auto* const it = new releasing{std::move(self), std::move(then)};
    bool const last = !let_go_.exchange(true) && last_of_recursion();
    if (last) return client_->loop().begin_release(grant_, it->call);
    if (ended_.load(std::memory_order_acquire)) {
        it->call.outcome = outcome_;
    } else {
        it->call.outcome = state() == lease_state::lost ? release_outcome::already_lost
                                                        : release_outcome::released;
    }
    it->completed();
}

// The first word is kept.
release_outcome single_hold::note(release_outcome outcome) {
    static std::mutex noting;  // rare and short: one for all
    std::lock_guard const guard{noting};
    if (!ended_.load(std::memory_order_relaxed)) {
        outcome_ = outcome;
        ended_.store(true, std::memory_order_release);
    }
    return outcome_;
}

lease_state single_hold::renew(std::optional<milliseconds> lease) {
    client_->require_usable();
    if (lease && *lease < milliseconds{20})
        base::raise(errc::bad_option,
                    "lease must be at least 20 ms, not " + std::to_string(lease->count()) + " ms");
    client_->loop().renew(*grant_, lease, client_->patience());
    return state();
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
