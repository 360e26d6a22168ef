// The decisions on which the safety of a quorum rests, in one place and pure.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::quorum {

/// One reading of a member's clock: it showed `store` at some moment between `sent` and `received`.
struct reading {
    base::instant sent{};
    base::instant received{};
    seam::store_time store{};
    seam::clock_id clock{};
};

/// Clock rates of the client and of the members are taken to differ by at most one part in `drift`.
inline constexpr int drift = 100;

/// Virtual so that the simulation can put wrong judgement in its place and prove that its checkers see the
/// difference. The product uses this class as it is.
class judgement {
public:
    virtual ~judgement() = default;

    /// When the lease of a claim began, for its client: no later than on any member that granted it.
    [[nodiscard]] virtual base::instant began(base::instant first_request,
                                              base::instant /*last_answer*/) const {
        return first_request;
    }

    /// Of so many members, how many must agree: of those that are configured, not of those that answer.
    [[nodiscard]] virtual std::size_t majority(std::size_t members) const {
        return members / 2 + 1;
    }

    /// Whether a member that may have forgotten its grants has no vote until they are over.
    [[nodiscard]] virtual bool sits_out() const { return true; }

    /// Whether a claim without a majority is given back also to members that have not answered.
    [[nodiscard]] virtual bool gives_back_unanswered() const { return true; }

    /// For how long a name is kept taken after its release, at most: a member that has lost it sits out no longer, and
    /// nobody gives it again what is kept.
    [[nodiscard]] virtual std::chrono::milliseconds longest_kept(
        std::chrono::milliseconds longest_lease) const {
        return longest_lease;
    }

    /// The latest moment of the member's clock at which a request may take effect that is given up at `when`.
    [[nodiscard]] virtual seam::store_time not_after(reading const& of, base::instant when) const {
        auto passed = when - of.received;
        passed -= passed / drift;
        return of.store + std::chrono::duration_cast<std::chrono::microseconds>(passed);
    }
};

}  // namespace holdfast::stores::quorum
