// What parties at synchronizers tell the checkers of: what they asked for, and what they were told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include <holdfast/election.hpp>

#include "seam/claim.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

/// A count-down of a latch begins. The operations that its client numbers after `after`, until the
/// next count-down of that client, are its own.
struct count_begun {
    std::string name;
    seam::claim_id after{};
    std::uint32_t declared{0};
    std::uint32_t n{0};
};

/// It was told to be done, or it failed and may or may not have been.
struct count_ended {
    std::string name;
    seam::claim_id after{};
    bool done{false};
};

/// A reset of a latch begins; `after` is as for a count-down.
struct reset_begun {
    std::string name;
    seam::claim_id after{};
};

/// Somebody who has waited for a latch since then was let through, or was told that it was reset.
struct latch_passed {
    std::string name;
    moment since{};
    bool lost{false};
};

/// A party arrives at a barrier, by claims of this spec, for the n-th time.
struct arrival_begun {
    seam::spec_ptr presence{};
    std::uint64_t turn{0};
};

struct arrival_ended {
    seam::spec_ptr presence{};
    std::uint64_t turn{0};
    std::optional<std::uint64_t> tripped{};
    std::error_code error{};
    std::string text{};
    bool stopped{false};  ///< by its own will
};

/// An observer of an election is told who leads.
struct leader_heard {
    std::uint64_t observer{0};
    std::string name;
    std::optional<leader_info> who{};
};

/// Something was put into, or taken out of, a bounded buffer.
struct buffer_changed {
    std::string name;
    std::uint64_t item{0};
    bool produced{false};
};

using event = std::variant<count_begun, count_ended, reset_begun, latch_passed, arrival_begun,
                           arrival_ended, leader_heard, buffer_changed>;

}  // namespace holdfast::simulation
