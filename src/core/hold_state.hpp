// A hold state: one local hold of a name, from its grant or pass until it is released or lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/lease.hpp>

#include "base/clock.hpp"
#include "core/terms.hpp"

namespace holdfast::core {

class claim_state;

/// What the holder sees. Written by the engine, read by anyone.
///
/// Thread-safety: the public members may be called from any thread at once; what is
/// marked as the engine's only under the engine's lock.
class hold_state {
public:
    hold_state(terms_ptr on, std::uint64_t token, base::instant granted, base::instant lost_at)
        : terms_{std::move(on)}, token_{token}, granted_{granted}, lost_at_{lost_at} {}

    [[nodiscard]] std::uint64_t token() const noexcept {
        return token_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] terms const& held_terms() const noexcept { return *terms_; }
    [[nodiscard]] base::instant granted() const noexcept { return granted_; }

    /// The moment at which the hold is lost unless it is renewed before.
    [[nodiscard]] base::instant lost_at() const noexcept {
        return lost_at_.load(std::memory_order_acquire);
    }

    /// Reads no stored verdict where the clock knows better: past `lost_at` it is lost.
    [[nodiscard]] lease_state state(base::instant now) const noexcept {
        auto const said = said_.load(std::memory_order_acquire);
        if (said == lease_state::held || said == lease_state::in_doubt)
            return now < lost_at() ? said : lease_state::lost;
        return said;
    }

    [[nodiscard]] std::string loss_reason(base::instant now) const;

    /// Fires by `announce_loss`.
    [[nodiscard]] std::stop_token lost();

    /// On the loss thread, without a lock of ours: tells those who watch, unless the hold was released meanwhile.
    void announce_loss();

    // --- for the engine, under its lock ---

    void extend(base::instant lost_at, bool in_doubt) noexcept;
    /// Ends the hold as lost; false when it had ended already.
    bool lose(std::string reason);
    /// Ends the hold: as released, or as lost when its time was over. True when it was in time. From
    /// here on nothing is announced any more. Once only.
    bool release(base::instant now) noexcept;

    /// In the biased hold: the same hold once more, as a new pass. Only while nobody watches it.
    void renumber(std::uint64_t token) noexcept { token_.store(token, std::memory_order_relaxed); }
    [[nodiscard]] bool watched() const noexcept { return watched_.load(std::memory_order_relaxed); }

    /// Whether its holder has given it back, in time or not.
    [[nodiscard]] bool is_released() const noexcept {
        return released_.load(std::memory_order_relaxed);
    }

    claim_state* held_by{nullptr};  ///< null once the store's claim is nobody's business any more
    std::optional<release_outcome> outcome{};  ///< of the first release, for those that come later

private:
    terms_ptr const terms_;
    std::atomic<std::uint64_t> token_;
    base::instant const granted_;
    std::atomic<base::instant> lost_at_;
    std::atomic<lease_state> said_{lease_state::held};
    std::atomic<bool> released_{false};
    std::atomic<bool> watched_{false};
    // What most holds never have.
    struct cold_part {
        std::string reason{};
        std::optional<std::stop_source> watchers{};
    };
    [[nodiscard]] cold_part& cold();
    [[nodiscard]] std::mutex& mutex() const noexcept;  ///< guards cold_

    std::unique_ptr<cold_part> cold_;
};

}  // namespace holdfast::core
