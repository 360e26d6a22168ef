// A biased hold: lock and unlock of a name that nobody else wants, without the engine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "core/hold_state.hpp"
#include "core/judgement.hpp"
#include "seam/revocation_word.hpp"

namespace holdfast::core {

/// On a store of the same process a hold that is given back is put aside rather than settled: the
/// next lock by this client takes it up again as one more pass, with its own token. The engine comes
/// back to it when the name is wanted, when a renewal is due, and after the last pass.
///
/// Thread-safety: `enter` and `leave` by any thread; the rest under the engine's lock.
class biased_hold {
public:
    /// What a parked hold gives to the thread that takes it up. Owned by that thread until it parks.
    struct slot {
        std::uint64_t generation{0};
        std::shared_ptr<hold_state> held{};
        seam::sequence number{};
        std::atomic<unsigned> pass{0};
        base::instant good_until{};
        bool taken_over{false};  ///< the engine has made a regular hold of it
    };

    enum class entry {
        no,     ///< use the engine
        yes,    ///< the calling thread holds the name
        stuck,  ///< use the engine, after it was told to take the generation back
    };

    struct visit {
        entry how{entry::no};
        std::uint64_t generation{0};
        slot const* where{nullptr};  ///< stays until the thread inside has left
    };

    [[nodiscard]] visit enter(base::instant now) noexcept {
        auto const generation = revocation_.take();
        if (generation == 0) return {};
        auto* const chosen = current_.load(std::memory_order_acquire);
        if (chosen == nullptr || chosen->generation != generation)
            return {entry::stuck, generation};
        auto const pass = chosen->pass.load(std::memory_order_relaxed) + 1;
        bool const good = now < chosen->good_until && pass <= most_passes &&
                          chosen->held.use_count() == 1 && !chosen->held->watched();
        if (!good) return {revocation_.park(generation) ? entry::no : entry::stuck, generation};
        chosen->pass.store(pass, std::memory_order_relaxed);
        chosen->held->renumber(make_token(chosen->number, pass));
        uses_.store(uses_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return {entry::yes, generation, chosen};
    }

    /// Puts the hold aside again. False: the engine must release it.
    [[nodiscard]] bool leave(std::uint64_t generation) noexcept {
        return revocation_.park(generation);
    }

    // --- under the engine's lock ---

    [[nodiscard]] seam::revocation_word& revocation() noexcept { return revocation_; }

    /// Parks a hold that the engine has; false when somebody wants it.
    [[nodiscard]] bool open(std::uint64_t generation, std::shared_ptr<hold_state> made,
                            seam::sequence number, unsigned pass, base::instant good_until) {
        auto* chosen = current_.load(std::memory_order_relaxed);
        if (chosen == nullptr || chosen->taken_over) {
            slots_.push_back(std::make_unique<slot>());
            chosen = slots_.back().get();
        }
        chosen->generation = generation;
        chosen->held = std::move(made);
        chosen->number = number;
        chosen->pass.store(pass, std::memory_order_relaxed);
        chosen->good_until = good_until;
        current_.store(chosen, std::memory_order_release);
        return revocation_.park(generation);
    }

    [[nodiscard]] slot* find(std::uint64_t generation) noexcept {
        auto const found = std::ranges::find(slots_, generation, &slot::generation);
        return found == slots_.end() ? nullptr : found->get();
    }

    /// The thread inside has left: its slot is nobody's any more.
    void drop(std::uint64_t generation) noexcept {
        auto* chosen = find(generation);
        if (chosen == nullptr) return;
        chosen->held = nullptr;
        if (!chosen->taken_over) return;
        if (current_.load(std::memory_order_relaxed) == chosen)
            current_.store(nullptr, std::memory_order_release);
        std::erase_if(slots_, [&](auto const& each) { return each.get() == chosen; });
    }

    /// Locks since the last call.
    [[nodiscard]] std::uint64_t take_uses() noexcept {
        auto const uses = uses_.load(std::memory_order_relaxed);
        return uses - std::exchange(counted_, uses);
    }

private:
    seam::revocation_word revocation_;
    std::atomic<slot*> current_{nullptr};
    std::atomic<std::uint64_t> uses_{0};
    std::uint64_t counted_{0};
    std::vector<std::unique_ptr<slot>> slots_;
};

}  // namespace holdfast::core
