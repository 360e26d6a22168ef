// The verbs of the seam, as values: each is one round trip to the store, and harmless when it is
// sent twice, but for an eviction of whoever holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "seam/claim.hpp"
#include "seam/revocation_word.hpp"

namespace holdfast::seam {

/// The store's own clock; the only judge of expiry. Its epoch is the store's affair.
struct store_clock {
    using duration = std::chrono::microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<store_clock>;
    static constexpr bool is_steady = false;
};
using store_time = store_clock::time_point;

/// Names one request of one client; the reply carries it.
enum class request_id : std::uint64_t {};

/// One of the servers that a store consists of, each of which serves some of the names: 0, 1, 2 and so
/// on. A store of one server has the lane 0 only. Which server stands behind a lane may change; then
/// its clock does.
enum class lane_id : std::uint32_t {};

/// Names the clock of one server for as long as it runs: times of two clocks cannot be compared. A
/// store with one clock for ever has the clock 0.
enum class clock_id : std::uint64_t {};

/// Asks one lane for its time. -> done
struct hello {
    lane_id lane{};
};

/// Wants one claim. -> granted | queued | refused
struct submit {
    claim subject;
    bool queue{false};       ///< join the line when it is busy
    store_time not_after{};  ///< takes no effect later than this: it was given up by then
    /// That `not_after` was computed for. A store whose server has another one by now does not send the
    /// request there: the answer is a failure, which names the new clock.
    clock_id clock{};
    std::shared_ptr<revocation_word>
        revocation{};             ///< for a store that `parks`; the others do not look at it
    std::uint64_t generation{0};  ///< of the revocation word
    /// The sequence that the claim shall have, where one store of several that vote is asked: it holds only with
    /// this one, and only when that is above what the store has seen for the name; else it is `outvoted`. Such a
    /// claim never joins the line. Zero: the store draws one.
    sequence ballot{};
    /// With a ballot: a majority of the others holds the claim already with this very ballot, so that it is not
    /// compared. The store only must be free.
    bool repairs{false};
};

/// Ends a claim, held or waiting, whoever was first. -> settled
struct settle {
    claim subject;
    std::chrono::milliseconds keep_for{0};  ///< the name stays taken this much longer
    /// When later than now, the store refuses the claim until then: a copy of its submit may still be
    /// under way.
    store_time tombstone_until{};
    clock_id clock{};  ///< of `tombstone_until`, as in `submit`; not looked at without one
    /// Of a held permit: it is used up, so the current limit sinks with it.
    bool consume{false};
};

/// Shows that claims of one lane, held and waiting, are alive. -> renewed, one result for each
struct renew {
    struct item {
        claim subject;
        std::chrono::milliseconds lease{};  ///< counted from now
    };
    std::vector<item> items;
    /// How long the answer may take before the engine asks again. A connection that was silent for that
    /// long is not asked a second time: the next renewal goes out by a fresh one. Zero: no bound.
    std::chrono::milliseconds answer_within{0};
    lane_id lane{};
};

/// Changes how a held claim holds, without a gap. -> converted | refused
struct convert {
    claim subject;
    claim_mode mode{claim_mode::shared};
    std::uint32_t permits{1};
};

/// Declares a semaphore and reads, or sets, its current limit. -> adjusted | refused
struct adjust {
    claim subject;  ///< only its spec counts: name, kind and declared limit
    std::optional<std::uint32_t> current{};
    /// Instead: raises the current limit by so many, but by no more than those who wait can take.
    /// Sent twice it may let in more of them, which a condition allows.
    std::uint32_t wake{0};
};

/// Names one agreed value: a latch's count, a barrier's generation, a leader's words.
struct cell_key {
    lock_kind kind{};
    std::string name;
    std::string part{};  ///< tells several cells of one synchronizer apart

    auto operator<=>(cell_key const&) const = default;
};

/// As the part of a watched key: who holds the name, rather than one of its cells.
inline constexpr char const* holders_part = "holders";

/// -> cell
struct read {
    cell_key key;
};

/// Replaces a cell when its version is still the expected one. -> swapped | conflict
struct swap {
    cell_key key;
    std::uint64_t expected{0};  ///< 0: the cell must not exist
    std::string value;
    std::chrono::milliseconds ttl{};
    claim_id operation{};          ///< kept in the cell, so that a lost reply can be resolved
    std::optional<claim> guard{};  ///< of the same name: must be held, or the swap is a conflict
    bool remove{false};            ///< deletes the cell instead
    bool quiet{false};             ///< nothing that watchers wait for: they are not told
};

/// Asks for notices about a name or a cell, from before its reply on. -> done
struct watch {
    cell_key key;
};

struct unwatch {
    cell_key key;
};

/// -> page
struct inspect {
    std::string prefix;
    std::string after{};  ///< the cursor of the page before: only names behind it
    bool exact{false};    ///< only the name that equals `prefix`
    /// Only names on which a claim with an owner waits; more names may be listed, never fewer. The
    /// cost follows those, not the store.
    bool waited_for{false};
};

/// Ends claims of others. -> evicted
struct evict {
    std::string name;
    std::optional<claim_id>
        only{};  ///< else all who hold when it arrives, so it must not arrive twice
    bool force{false};
};

using request = std::variant<hello, submit, settle, renew, convert, adjust, read, swap, watch,
                             unwatch, inspect, evict>;

}  // namespace holdfast::seam
