// The barrier: a generation in a cell, and the presence of those who have arrived as claims.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.hpp"
#include "core/terms.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// What one barrier object asks for. Immutable and shared.
struct barrier_terms {
    std::uint32_t parties{0};
    terms_ptr presence;  ///< a shared claim, held by everyone who has arrived and waits

    [[nodiscard]] std::string const& name() const noexcept { return presence->spec->name; }
    [[nodiscard]] seam::cell_key key() const { return {lock_kind::barrier, name(), {}}; }
};
using barrier_terms_ptr = std::shared_ptr<barrier_terms const>;

/// The value of a barrier's cell. Whether a generation trips, breaks or is reset is decided by the
/// one swap that writes it.
struct barrier_state {
    std::uint32_t parties{0};
    std::uint64_t generation{0};
    bool broken{false};
    std::uint64_t tripped{0};  ///< how the last 64 generations ended: bit 0 the last
    seam::claim_id life{};     ///< another one after it was deleted, whose generations are others
    std::vector<seam::claim_id> arrived{};  ///< in this generation
    std::vector<seam::claim_id> before{};   ///< who tripped the one before: for lost answers

    [[nodiscard]] static barrier_state parse(std::string_view value, std::string_view name);
    [[nodiscard]] std::string text() const;

    /// Ends the generation and begins the next.
    void turn(bool trips);
    /// Whether an earlier generation has tripped; nothing when that is too long ago to be known.
    [[nodiscard]] std::optional<bool> has_tripped(std::uint64_t earlier) const;
};

/// A barrier that nobody uses is forgotten after this.
inline constexpr std::chrono::hours barrier_kept{24};

/// Arrives and waits for the others; `generation` is the one that has tripped, or nothing when the
/// caller's deadline came first, which breaks it. Throws `broken_barrier`, and `limit_mismatch` when
/// others expect another number of parties.
/// Without `wait` it goes on at once: the last party trips the generation, any other breaks it.
task arrive_at_barrier(task_context& on, barrier_terms_ptr terms,
                       std::optional<std::uint64_t>& generation, bool wait = true);

/// Ends the present generation, broken or not, for all who wait in it, and begins a new one.
task reset_barrier(task_context& on, barrier_terms_ptr terms);

/// Deletes the barrier, if there is one, whatever its parties; all who wait at it get `broken_barrier`.
task delete_barrier(task_context& on, barrier_terms_ptr terms);

}  // namespace holdfast::core
