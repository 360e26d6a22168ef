#include "core/terms.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "core/judgement.hpp"
#include "core/retry_policies.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_lease{20};
constexpr milliseconds longest_lease = std::chrono::hours{24 * 365};

void require(bool met, std::string const& words) {
    if (!met) base::raise(errc::bad_option, words);
}

std::string text(milliseconds span) { return std::to_string(span.count()) + " ms"; }

}  // namespace

void require_lease(milliseconds lease, milliseconds grace) {
    require(lease >= shortest_lease && lease <= longest_lease,
            "lease must be from " + text(shortest_lease) + " to one year, not " + text(lease));
    require(grace >= milliseconds::zero() && grace < lease,
            "grace must be at least 0 and less than the lease of " + text(lease) + ", not " +
                text(grace));
}

terms make_terms(seam::claim_spec spec, lock_options const& options) {
    auto const lease = options.lease;
    require_lease(lease, options.grace);
    auto const renew_every = options.renew_every.value_or(lease / 3);
    require(renew_every > milliseconds::zero() && renew_every < lease,
            "renew_every must be more than 0 and less than the lease of " + text(lease) + ", not " +
                text(renew_every));
    require(!options.max_hold || *options.max_hold > milliseconds::zero(),
            "max_hold must be more than 0");
    require(!options.min_hold || *options.min_hold >= milliseconds::zero(),
            "min_hold must not be negative");
    require(!options.min_hold || *options.min_hold <= longest_lease,
            "min_hold must be at most one year");
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
