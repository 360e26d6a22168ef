#include "core/terms.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "core/judgement.hpp"
#include "core/retry_policies.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_lease{20};
constexpr milliseconds shortest_use{10};

void require(bool met, std::string const& words) {
    if (!met) base::raise(errc::bad_option, words);
}

std::string text(milliseconds span) { return std::to_string(span.count()) + " ms"; }

}  // namespace

void require_lease(milliseconds lease, milliseconds grace) {
    require(lease >= shortest_lease && lease <= longest_lease,
            "lease must be from " + text(shortest_lease) + " to one year, not " + text(lease));
    auto const longest_grace = usable_time(lease, shortest_use);
    require(grace >= milliseconds::zero() && grace <= longest_grace,
            "grace must be from 0 to " + text(longest_grace) + ", not " + text(grace) +
                ": a lease of " + text(lease) + " would be lost before it could be renewed");
}

milliseconds usable_time(milliseconds lease, milliseconds grace) noexcept {
    return lease - std::chrono::ceil<milliseconds>(judgement::margin(lease)) - grace;
}

milliseconds renewal_interval(milliseconds lease, milliseconds grace) noexcept {
    auto const interval = std::min((lease - grace) / 3, usable_time(lease, grace) / 2);
    return std::max(interval, milliseconds{1});
}

void require_at_most(milliseconds longest, char const* what, milliseconds wanted) {
    require(wanted <= longest,
            std::string{what} + " must be at most " + text(longest) +
                ", the longest that this store keeps a name (max_lease in its URL), not " +
                text(wanted));
}

terms make_terms(seam::claim_spec spec, lock_options const& options, milliseconds longest) {
    auto const lease = options.lease;
    require_lease(lease, options.grace);
    auto const renew_every = options.renew_every.value_or(renewal_interval(lease, options.grace));
    auto const usable = usable_time(lease, options.grace);
    auto const latest = usable - usable / 10;  // an answer takes some time, too
    require(renew_every > milliseconds::zero() && renew_every <= latest,
            "renew_every must be more than 0 and at most " + text(latest) + ", not " +
                text(renew_every) + ": a lease of " + text(lease) + " with a grace of " +
                text(options.grace) + " would be lost before its renewal");
    require(!options.max_hold || *options.max_hold > milliseconds::zero(),
            "max_hold must be more than 0");
    require(!options.min_hold || *options.min_hold >= milliseconds::zero(),
            "min_hold must not be negative");
    require(!options.min_hold || *options.min_hold <= longest_lease,
            "min_hold must be at most one year");
    require_at_most(longest, "min_hold", options.min_hold.value_or(milliseconds::zero()));
    require(!options.max_hold || !options.min_hold || *options.min_hold <= *options.max_hold,
            "min_hold must not be longer than max_hold");
    require(options.local_passes >= 0 && options.local_passes <= most_passes,
            "local_passes must be from 0 to " + std::to_string(most_passes) + ", not " +
                std::to_string(options.local_passes));
    spec.order = options.order;
    spec.lease = lease;
    spec.owner = options.owner;
    spec.label = options.label;
    terms out;
    out.spec = std::make_shared<seam::claim_spec const>(std::move(spec));
    out.renew = options.renew;
    out.renew_every = renew_every;
    out.max_hold = options.max_hold;
    out.min_hold = options.min_hold.value_or(milliseconds::zero());
    out.grace = options.grace;
    out.local_passes = options.local_passes;
    out.retry = options.retry;
    out.detect_deadlock = options.detect_deadlock;
    out.single_attempt = options.retry && is_never(options.retry);
    return out;
}

}  // namespace holdfast::core
