// One member of a quorum, as a client knows it.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "seam/request.hpp"
#include "stores/quorum/judgement.hpp"

namespace holdfast::stores::quorum {

/// Whether a member may vote, as its record says.
enum class standing {
    unknown,      ///< it was not asked yet, or its server is another one than before
    asked,        ///< it is being asked for its record, or is given one
    missing,      ///< it has none: new, or it has forgotten everything
    voting,       ///< it has a vote
    sitting_out,  ///< not yet: it may have forgotten grants whose leases are not over
    down,         ///< it could not be asked
    disagreeing,  ///< it belongs to another quorum
};

/// A claim that a member did not hear the end of.
struct owed_end {
    seam::claim subject;
    seam::store_time tombstone_until{};
    seam::clock_id clock{};
    base::instant over{};  ///< its lease has ended by then
};

/// Not thread-safe: it belongs to the machine.
struct member {
    std::string address;
    standing state{standing::unknown};
    std::optional<reading> clock{};
    seam::store_time votes_from{};                  ///< while it sits out
    base::instant look_at{base::never};             ///< at its record, again
    int looks{0};                                   ///< at a record that is missing
    base::error trouble{};                          ///< why it had no vote when it was last asked
    base::instant failed_at{base::instant::min()};  ///< when that was
    bool disagrees{false};                          ///< by the record that was read last
    std::chrono::nanoseconds round_trip{0};         ///< smoothed; zero: not known
    std::vector<owed_end> owed{};

    /// How long its answer may take before it counts as a no: small beside the lease, and scaled to what is seen.
    [[nodiscard]] std::chrono::nanoseconds patience(std::chrono::milliseconds lease) const {
        using std::chrono::milliseconds;
        using std::chrono::nanoseconds;
        constexpr nanoseconds least = milliseconds{50};
        constexpr nanoseconds unknown = milliseconds{1000};
        auto const most = std::max<nanoseconds>(least, nanoseconds{lease} / 4);
        auto const wanted = round_trip == nanoseconds::zero() ? unknown : 8 * round_trip + least;
        return std::min(wanted, most);
    }

    void measure(std::chrono::nanoseconds taken) noexcept {
        constexpr int weight = 4;
        round_trip = round_trip == std::chrono::nanoseconds::zero()
                         ? taken
                         : round_trip + (taken - round_trip) / weight;
    }

    /// The latest that its clock may show at this moment.
    [[nodiscard]] seam::store_time latest_time(base::instant now) const {
        auto passed = now - clock->sent;
        passed += passed / drift;
        return clock->store + std::chrono::duration_cast<std::chrono::microseconds>(passed);
    }
    /// The earliest.
    [[nodiscard]] seam::store_time earliest_time(base::instant now) const {
        auto passed = now - clock->received;
        passed -= passed / drift;
        return clock->store + std::chrono::duration_cast<std::chrono::microseconds>(passed);
    }

    [[nodiscard]] bool has_vote() const noexcept {
        return state == standing::voting && clock.has_value();
    }
};

}  // namespace holdfast::stores::quorum
