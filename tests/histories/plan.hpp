// plan: what a run consists of, known to its workers and to the checker alike.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "histories/event.hpp"

namespace holdfast::histories {

/// Who takes part.
enum class crew {
    everybody,
    locks,     ///< who needs nothing but locks without a fair order
    careless,  ///< lockers that do not look whether they still hold, and a register that nobody fences
};

struct plan {
    histories::crew crew{};
    std::uint32_t limit{3};        ///< of the semaphore
    std::uint32_t latch_count{5};  ///< of each latch
    std::uint32_t barrier_parties{3};
    instant latch_lasts{second};          ///< a new latch begins so often
    instant progress_bound{30 * second};  ///< within which every party gets on after a fault
    instant notice_bound{5 *
                         second};  ///< within which a thing that is there wakes who waits for it
};

/// Locks, used exclusively and shared, alone and together.
inline constexpr std::array<std::string_view, 3> lock_names{"n0", "n1", "n2"};
inline constexpr std::string_view semaphore_name = "s";
inline constexpr std::string_view election_name = "e";
inline constexpr std::string_view barrier_name = "b";
inline constexpr std::string_view condition_name = "c";
inline constexpr std::string_view latch_prefix = "l";
/// A lock from which people are thrown out at any time. A holder learns of that afterwards, so two may
/// believe for a moment that they hold it: only its tokens and its register are judged.
inline constexpr std::string_view evicted_name = "x";

/// No lease of a lock is longer; so is that of everything else, by the URL.
inline constexpr std::chrono::milliseconds longest_lease{2000};

}  // namespace holdfast::histories
