// Terms: what a synchronizer asks of every hold, beyond what the store must know.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <holdfast/options.hpp>

#include "seam/claim.hpp"

namespace holdfast::core {

/// Immutable and shared by all acquires of one synchronizer object.
struct terms {
    seam::spec_ptr spec;
    bool renew{true};
    std::chrono::milliseconds renew_every{10'000};
    std::optional<std::chrono::milliseconds> max_hold{};
    std::chrono::milliseconds min_hold{0};
    std::chrono::milliseconds grace{0};
    int local_passes{64};
    retry::policy retry{};
    bool detect_deadlock{false};
    bool single_attempt{false};  ///< the policy is retry::never: one attempt, which does not queue

    /// Whether threads that ask on these terms may hand the hold to each other: barging exclusive
    /// claims without a policy of their own that do not join and whose lease is renewed, so that the
    /// next one has all of it.
    [[nodiscard]] bool sharable() const noexcept {
        return spec->kind == lock_kind::lock && spec->mode == claim_mode::exclusive &&
               spec->order == ordering::barging && !spec->joins && !retry && !detect_deadlock &&
               renew;
    }

    /// Whether two synchronizers of one name may use one queue.
    [[nodiscard]] bool same_queue(terms const& other) const noexcept {
        return !spec->joins && spec->owner == other.spec->owner && spec->name == other.spec->name &&
               spec->kind == other.spec->kind && spec->lease == other.spec->lease &&
               spec->label == other.spec->label && renew == other.renew &&
               renew_every == other.renew_every && max_hold == other.max_hold &&
               min_hold == other.min_hold && grace == other.grace &&
               local_passes == other.local_passes;
    }
};

using terms_ptr = std::shared_ptr<terms const>;

/// How long a hold lasts for its holder after a confirmed renewal: until the grace before its deadline.
[[nodiscard]] std::chrono::milliseconds usable_time(std::chrono::milliseconds lease,
                                                    std::chrono::milliseconds grace) noexcept;

/// When to renew, counted from the last renewal, so that a second and a third try fit in before the loss.
[[nodiscard]] std::chrono::milliseconds renewal_interval(std::chrono::milliseconds lease,
                                                         std::chrono::milliseconds grace) noexcept;

/// The longest lease at any store.
inline constexpr std::chrono::milliseconds longest_lease = std::chrono::hours{24 * 365};

/// Throws errc::bad_option when nothing can be held for so long, or the grace leaves no time to use it.
void require_lease(std::chrono::milliseconds lease, std::chrono::milliseconds grace);
/// Throws errc::bad_option when the store keeps nothing for so long: see seam::capabilities::longest_lease.
void require_at_most(std::chrono::milliseconds longest, char const* what,
                     std::chrono::milliseconds wanted);

/// Checks the options and makes terms of them; throws errc::bad_option. `longest` is the store's: what exceeds it
/// when it is asked for the claim, it refuses itself.
[[nodiscard]] terms make_terms(seam::claim_spec spec, lock_options const& options,
                               std::chrono::milliseconds longest = longest_lease);

}  // namespace holdfast::core
