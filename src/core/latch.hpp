// The latch: a count in a cell that only sinks, and those who wait for its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/script.hpp"
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
    std::uint64_t changes{0};              ///< how many operations have changed it
    std::vector<seam::claim_id> recent{};  ///< the last of them: a lost answer is found here

    [[nodiscard]] static latch_state parse(std::string_view value, std::string_view name);
    [[nodiscard]] std::string text() const;
};

/// A finished latch stays finished for so long; one that nobody touches is forgotten after a week.
inline constexpr std::chrono::hours finished_latch_kept{24};
inline constexpr std::chrono::hours open_latch_kept{24 * 7};

/// Declares the latch where it is new, and counts down by `n` (0: only looks). `left` is what is
/// left then. Throws `limit_mismatch` when another count was declared.
script count_down_latch(stage& on, latch_terms_ptr its, std::uint32_t n, std::uint32_t& left);

/// Waits until nothing is left; `finished` says whether it came before the caller's deadline. Without
/// `wait` it only looks, and a latch that nobody has declared is not finished.
script wait_for_latch(stage& on, latch_terms_ptr its, bool& finished, bool wait = true);

}  // namespace holdfast::core
