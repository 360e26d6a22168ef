// One member of a quorum, as a client knows it.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "seam/request.hpp"
#include "stores/quorum/judgement.hpp"
#include "stores/quorum/owed_ends.hpp"

namespace holdfast::stores::quorum {

/// Whether a member may vote, as its record says.
enum class standing {
    unknown,      ///< it was not asked yet, or its server is another one than before
    asked,        ///< it is being asked for its record, or is given one
    missing,      ///< it has none: new, or it has forgotten everything
    voting,       ///< it has a vote
    sitting_out,  ///< not yet: it may have forgotten grants whose leases are not over
    down,         ///< it could not be asked
    disagreeing,  ///< it belongs to another quorum, or is another member as well
};

/// Ballots are ahead of all members' clocks by less.
inline constexpr std::chrono::seconds ballot_lead{1};

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
    std::optional<base::error> disagreement{};      ///< by the record that was read last
    bool is_another{false};  ///< the server that answers there is already known as another member
    bool doubted{false};     ///< its connection was lost: its word counts when its record was read
    bool voted{false};       ///< before it was doubted
    std::chrono::nanoseconds round_trip{0};  ///< smoothed; zero: not known
    bool per_claim_lease{true};              ///< else its claims end with sessions
    owed_ends owed{};
    std::size_t payments{0};  ///< of those, that are under way

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

    /// One that stood still for long tells little of how long it will take.
    void measure(std::chrono::nanoseconds taken) noexcept {
        constexpr int weight = 4;
        constexpr std::chrono::nanoseconds longest = std::chrono::seconds{1};
        taken = std::min(taken, longest);
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

    /// Its clock as a ballot follows it, never ahead of it by as much as `ballot_lead`: by the way to it and back, and by
    /// what clocks drift apart within some seconds. A reading that is old or took long is taken at its least.
    [[nodiscard]] seam::store_time time_for_ballot(base::instant now) const {
        constexpr auto fresh = ballot_lead * drift / 4;
        auto const passed = now - clock->sent;
        if (passed > fresh || clock->received - clock->sent > ballot_lead / 2)
            return earliest_time(now);
        return clock->store + std::chrono::duration_cast<std::chrono::microseconds>(passed);
    }

    /// One that is doubted is asked all the same while its record is read: its answers wait for that.
    [[nodiscard]] bool has_vote() const noexcept {
        bool const is_read_again = doubted && voted && state == standing::asked;
        return clock.has_value() && (state == standing::voting || is_read_again);
    }
};

}  // namespace holdfast::stores::quorum
