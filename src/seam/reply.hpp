// What a store answers. Every answer carries the store's time; unknown never becomes yes or no.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "seam/request.hpp"

namespace holdfast::seam {

/// One claim is held: its fencing sequence and the store's time at which its lease began.
struct grant {
    sequence number{};
    store_time began{};
    bool contended{false};  ///< somebody else waits for the name
    /// What the store gave, where that is not what was asked for: a session-based store negotiates, or
    /// rounds. Zero: what was asked for.
    std::chrono::milliseconds lease{0};
};

/// The request was carried out and there is nothing to tell.
struct done {};

/// The claim is held.
struct granted {
    grant held;
};

/// The claim waits in the store's line and will be told.
struct queued {
    /// For the first in the line: how long what stands in its way may last unless renewed. A
    /// renewal of the waiter after that moves the line. Zero for those behind.
    std::chrono::milliseconds blocked_for{0};
};

enum class refusal {
    busy,            ///< taken by somebody else
    too_late,        ///< `not_after` has passed, or the claim has a tombstone
    kind_mismatch,   ///< the name lives as another kind
    limit_mismatch,  ///< another limit was declared
    gone,            ///< the claim to convert is not held
    would_deadlock,  ///< the conversion could never succeed
    outvoted,        ///< the name is free, and its ballot is not above `refused::ballot`
};

struct refused {
    refusal why{refusal::busy};
    std::string text{};
    std::chrono::milliseconds blocked_for{0};  ///< as in `queued`, when known
    sequence ballot{};                         ///< of `outvoted`: what the next one has to exceed
};

/// How a claim ended. `gone`: the store did not know it, or its lease was over.
enum class ending { released, gone };

struct settled {
    ending how{ending::gone};
};

/// One claim of a renew.
struct renewal {
    enum class status {
        alive,    ///< held, and its lease begins anew at `held.began`
        waiting,  ///< still in the line
        gone,     ///< neither: expired, evicted, or the store began anew
        unknown,  ///< this one was not answered; the others were
    };
    status found{status::gone};
    grant held{};  ///< of an alive claim: also tells a waiter that it was granted meanwhile
    std::chrono::milliseconds blocked_for{0};  ///< of a waiting claim, as in `queued`
};

struct renewed {
    std::vector<renewal> items;
};

struct converted {
    grant held{};
};

struct adjusted {
    std::uint32_t declared{0};
    std::uint32_t current{0};
    std::uint32_t used{0};
};

/// A cell as it is; version 0 when it does not exist.
struct cell {
    std::uint64_t version{0};
    std::string value{};
};

struct swapped {
    std::uint64_t version{0};  ///< 0: it was removed
};

/// The cell had another version, or the guard did not hold: as it is now.
struct conflict {
    cell current{};
    bool guard_failed{false};
};

/// One name as the store knows it.
struct listed : lock_info {
    std::string cell{};  ///< the value of its cell without a part; empty when there is none
};

struct page {
    std::vector<listed> names;
    std::string next{};  ///< the cursor for the rest; empty when there is none
};

struct evicted {
    std::size_t count{0};
};

/// The store could not be asked, or refused to work. Whether the request took effect is unknown.
struct failure {
    base::error error;
};

using reply_body = std::variant<failure, done, granted, queued, refused, settled, renewed,
                                converted, adjusted, cell, swapped, conflict, page, evicted>;

struct reply {
    store_time now{};  ///< meaningless in a failure
    reply_body body;
    clock_id clock{};  ///< that showed `now`; in a failure, that of the server reached, else 0
};

}  // namespace holdfast::seam
