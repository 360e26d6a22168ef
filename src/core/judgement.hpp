// The decisions on which safety rests, in one place and pure: what a reply proves, and for how long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// One reading of two clocks: the store said `store` in answer to a request that we sent at `sent`
/// and whose answer we had at `received`. The store's clock showed `store` at some moment between.
struct clock_pair {
    base::instant sent{};
    base::instant received{};
    seam::store_time store{};
};

/// Where a time of the store comes from: times of different clocks cannot be compared.
struct clock_source {
    seam::lane_id lane{};
    seam::clock_id clock{};
};

/// Clock rates of client and store are taken to differ by at most one part in `drift`.
inline constexpr int drift = 100;

/// Virtual so that the simulation can put wrong judgement in its place and prove that its checkers
/// see the difference. The product uses this class as it is.
class judgement {
public:
    virtual ~judgement() = default;

    /// When a hold whose lease began at store time `began` ends for its holder: before the store can
    /// grant it to anyone else. The pair's `sent`, never a time of receipt, anchors it: the store's
    /// clock showed `pair.store` no earlier than that.
    [[nodiscard]] virtual base::instant deadline(clock_pair const& pair, seam::store_time began,
                                                 std::chrono::milliseconds lease) const {
        using std::chrono::nanoseconds;
        nanoseconds since = began - pair.store;
        if (since > nanoseconds::zero()) since -= since / drift;
        return pair.sent + since + lease - margin(lease);
    }

    /// What a hold ends early by: the drift over one lease, and 2 ms for the timer.
    [[nodiscard]] static std::chrono::nanoseconds margin(std::chrono::milliseconds lease) noexcept {
        return std::chrono::nanoseconds{lease} / drift + std::chrono::milliseconds{2};
    }

    /// The latest store time at which a request may still take effect when we give it up at `when`:
    /// no later than what the store's clock shows then.
    [[nodiscard]] virtual seam::store_time not_after(clock_pair const& pair,
                                                     base::instant when) const {
        auto passed = when - pair.received;
        passed -= passed / drift;
        return pair.store + std::chrono::duration_cast<std::chrono::microseconds>(passed);
    }

    /// The pass after `pass` of the same store grant: its token must be higher.
    [[nodiscard]] virtual unsigned next_pass(unsigned pass) const { return pass + 1; }

    /// The reading of the clocks by which a pushed grant is judged: the last one that an answer gave.
    /// When the notice came proves nothing, for it may have been under way for long.
    [[nodiscard]] virtual clock_pair reading_for_notice(clock_pair const& last,
                                                        seam::store_time /*began*/,
                                                        base::instant /*received*/) const {
        return last;
    }

    /// Whether the store's clock can have shown `began` by now. A pushed grant of which that is not true
    /// was not made by the store: a hold that begins later would end later.
    [[nodiscard]] virtual bool can_have_begun(clock_pair const& last, seam::store_time began,
                                              base::instant now) const {
        auto const passed = now - last.sent;
        auto const latest = passed + passed / drift + std::chrono::milliseconds{1};
        return began - last.store <= latest;
    }

    /// How long a hold can be counted on: as long as was asked for, or as long as the store gave, when that
    /// is shorter. Zero given: what was asked for.
    [[nodiscard]] virtual std::chrono::milliseconds sure_lease(
        std::chrono::milliseconds asked, std::chrono::milliseconds given) const {
        return given > given.zero() ? std::min(asked, given) : asked;
    }

    /// Whose reading a lane's replies and grants are judged by: its own server's.
    [[nodiscard]] virtual clock_source source_of(clock_source told) const { return told; }

    /// Whether the end of a session ends what was held in it.
    [[nodiscard]] virtual bool session_end_counts() const { return true; }

    /// Whether a pushed "gone" ends a hold unchecked. A notice is a hint: ask the store.
    [[nodiscard]] virtual bool notice_is_truth() const { return false; }

    /// Whether one failed renewal ends the renewing. It does not: only the deadline does.
    [[nodiscard]] virtual bool error_ends_renewal() const { return false; }
};

/// The token of a grant: rises with every grant of the store and every local pass.
[[nodiscard]] constexpr std::uint64_t make_token(seam::sequence number, unsigned pass) noexcept {
    return (static_cast<std::uint64_t>(number) << 8) | pass;
}

inline constexpr int most_passes = 255;

}  // namespace holdfast::core
