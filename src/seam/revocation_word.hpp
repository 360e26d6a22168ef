// A revocation word: lets a client put a held claim aside, and take it up again, without a message.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::seam {

/// Shared by a client and a store of the same process (`capabilities::parks`). A claim that its
/// client has put aside counts as free: the store takes it back by itself when somebody wants it.
///
/// The word holds a generation (one for each claim that uses the revocation word), a flag that somebody else
/// wants the name, and the state. Every change is one compare-and-swap of the whole word, so that of
/// client and store, who may both reach for a parked claim, exactly one gets it.
///
/// Thread-safety: all members may be called from any thread at once.
class revocation_word {
public:
    enum class state : std::uint64_t {
        used = 0,
        parked = 1,
        revoked = 2,  ///< ended at the store while it was put aside
        overdue = 3,  ///< ended at the store while it was in use
    };

    /// The client: a new claim, in use. Returns its generation.
    std::uint64_t begin() noexcept {
        auto const generation = (word_.load(std::memory_order_relaxed) >> shift) + 1;
        word_.store(generation << shift, std::memory_order_release);
        return generation;
    }

    /// The client: takes the parked claim up again and returns its generation; 0 when it is not
    /// parked or somebody wants it.
    [[nodiscard]] std::uint64_t take() noexcept {
        auto word = word_.load(std::memory_order_relaxed);
        bool const taken =
            (word & low) == static_cast<std::uint64_t>(state::parked) &&
            word_.compare_exchange_strong(word, word & ~low, std::memory_order_acquire,
                                          std::memory_order_relaxed);
        return taken ? word >> shift : 0;
    }

    /// The client: puts the claim in use aside; false when somebody wants it, or it was revoked.
    [[nodiscard]] bool park(std::uint64_t generation) noexcept {
        auto used = generation << shift;
        return word_.compare_exchange_strong(used, used | static_cast<std::uint64_t>(state::parked),
                                             std::memory_order_release, std::memory_order_relaxed);
    }

    /// The client's engine: from here on neither `take` nor `park` succeeds. Returns the state before;
    /// a parked claim is the caller's now.
    state seize(std::uint64_t generation) noexcept {
        return change(generation,
                      [](state was) { return was == state::parked ? state::used : was; });
    }

    /// The store: somebody wants the name. True when the claim was parked: it is revoked now.
    [[nodiscard]] bool reclaim(std::uint64_t generation) noexcept {
        return change(generation, [](state was) {
                   return was == state::parked ? state::revoked : was;
               }) == state::parked;
    }

    /// The store: the claim has ended.
    void revoke(std::uint64_t generation) noexcept {
        change(generation, [](state was) {
            return was == state::used || was == state::overdue ? state::overdue : state::revoked;
        });
    }

private:
    static constexpr unsigned shift = 3;
    static constexpr std::uint64_t states = 3;
    static constexpr std::uint64_t wanted = 4;
    static constexpr std::uint64_t low = states | wanted;

    // Sets the wanted flag and the state that `next` chooses; a claim of an earlier generation is
    // revoked for good.
    template <class Next>
    state change(std::uint64_t generation, Next next) noexcept {
        auto word = word_.load(std::memory_order_acquire);
        for (;;) {
            if (word >> shift != generation) return state::revoked;
            auto const was = static_cast<state>(word & states);
            auto const to = generation << shift | wanted | static_cast<std::uint64_t>(next(was));
            if (word_.compare_exchange_weak(word, to, std::memory_order_acq_rel,
                                            std::memory_order_acquire))
                return was;
        }
    }

    std::atomic<std::uint64_t> word_{static_cast<std::uint64_t>(state::revoked)};
};

}  // namespace holdfast::seam
