// The phases of a claim at the store, as its client knows them, and which may follow which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::core {

enum class claim_phase : std::uint8_t {
    submitting,  ///< a submit is under way, or about to be sent again
    waiting,     ///< the store said busy; in its line, or waiting to try again
    confirming,  ///< granted, but so late that a renewal must show it is still ours
    held,
    parked,  ///< put aside in the biased hold; a thread may be using it there
    over,    ///< lost, and its holder has not yet let go
    ending,  ///< being settled, by nobody's leave; what follows is oblivion
};

/// Whether a claim may go from one phase to the other. docs/architecture.md draws this.
[[nodiscard]] constexpr bool may_follow(claim_phase from, claim_phase to) noexcept {
    using enum claim_phase;
    constexpr auto bit = [](claim_phase phase) { return 1U << static_cast<unsigned>(phase); };
    constexpr std::array<unsigned, 7> next{
        /* submitting */ bit(submitting) | bit(waiting) | bit(confirming) | bit(held) | bit(ending),
        /* waiting    */ bit(submitting) | bit(confirming) | bit(held) | bit(ending),
        /* confirming */ bit(confirming) | bit(held) | bit(ending),
        /* held       */ bit(parked) | bit(over) | bit(ending),
        /* parked     */ bit(held),
        /* over       */ bit(ending),
        /* ending     */ 0U,
    };
    return (next[static_cast<std::size_t>(from)] & bit(to)) != 0;
}

}  // namespace holdfast::core
