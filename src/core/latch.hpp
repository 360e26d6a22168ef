// The latch: a count in a cell that falls to zero, round by round, and those who wait for that.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// What one latch object asks for. Immutable and shared.
struct latch_terms {
    std::string name;
    std::optional<std::uint32_t> count{};  ///< none: as it was declared by somebody else

    [[nodiscard]] seam::cell_key key() const { return {lock_kind::latch, name, {}}; }
};
using latch_terms_ptr = std::shared_ptr<latch_terms const>;

/// The value of a latch's cell.
struct latch_state {
    std::uint32_t declared{0};
    std::uint32_t left{0};
    std::uint64_t changes{0};  ///< how many operations have changed it
    std::uint64_t round{0};    ///< rises with every reset, from 1 on
    /// In which rounds nothing was left: bit 0 stands for this one, bit 1 for the one before, and so on.
    std::uint64_t ended{0};
    /// The latest round that was reset or deleted before its end, 0 without one: all after it have come to theirs, however
    /// many there were.
    std::uint64_t cut_short{0};
    bool deleted{false};  ///< kept for a while, for those who wait or look for an answer
    std::vector<seam::claim_id> recent{};  ///< the last of them: a lost answer is found here

    [[nodiscard]] static latch_state parse(std::string_view value, std::string_view name);
    [[nodiscard]] std::string text() const;
};

/// A finished latch stays finished for so long; one that nobody touches is forgotten after a week.
inline constexpr std::chrono::hours finished_latch_kept{24};
inline constexpr std::chrono::hours open_latch_kept{24 * 7};
/// Longer than anybody who waits takes to look again.
inline constexpr std::chrono::minutes deleted_latch_kept{1};

/// Declares the latch where it is new, and counts down by `n` (0: only looks). `left` is what is
/// left then, and `round`, where given, the round that it was counted in. Throws `limit_mismatch` when another count was
/// declared.
task count_down_latch(task_context& on, latch_terms_ptr terms, std::uint32_t n, std::uint32_t& left,
                      std::uint64_t* round = nullptr);

/// Begins a new round with this count, whatever there was before, and declares the latch where it is new. The
/// count of the terms does not matter.
task reset_latch(task_context& on, latch_terms_ptr terms, std::uint32_t count);

/// Deletes the latch, if there is one.
task delete_latch(task_context& on, latch_terms_ptr terms);

/// A wait is for the round in which it begins, or for that of this number. One whose round was reset or deleted throws
/// `lost`, unless that round had come to its end before.
///
/// Waits until nothing is left; `finished` says whether it came before the caller's deadline. Without
/// `wait` it only looks, and a latch that nobody has declared is not finished.
task wait_for_latch(task_context& on, latch_terms_ptr terms, bool& finished, bool wait = true,
                    std::uint64_t number = 0);

}  // namespace holdfast::core
