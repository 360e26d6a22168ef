// The two sides of a hold: as the store has it, and as a user believes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <holdfast/lease.hpp>

#include "core/call.hpp"
#include "core/hold_state.hpp"
#include "core/terms.hpp"
#include "seam/claim.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

/// A claim that the store holds for somebody, as seen from outside the store.
struct store_hold {
    seam::claim_id id{};
    seam::spec_ptr spec{};
    seam::sequence number{};
    seam::store_time granted{};
    seam::store_time expires{};
    std::chrono::milliseconds lease{};  ///< as last asked for
    bool kept{false};                   ///< released under a minimum hold: in the way, but nobody's
};

/// A claim in the store's line.
struct store_wait {
    seam::claim_id id{};
    seam::spec_ptr spec{};
    seam::store_time expires{};
    seam::store_time since{};  ///< known of a store that compares
};

/// How a claim ended at the store.
/// `recalled`: taken back while its client had put it aside.
enum class store_end { settled, expired, evicted, forgotten, recalled };

/// Whether the two may not be held at once. Permits are counted, not paired.
[[nodiscard]] inline bool conflicting(seam::claim_spec const& a, seam::claim_spec const& b) {
    if (a.name != b.name || a.mode == claim_mode::permits || b.mode == claim_mode::permits)
        return false;
    if (a.mode == claim_mode::shared && b.mode == claim_mode::shared) return false;
    bool const one_owner = a.joins && b.joins && a.owner == b.owner && a.mode == b.mode;
    return !one_owner;
}

class party;

/// One hold in the hands of a user, from the moment it was given until it is let go.
struct local_hold {
    std::size_t client{0};
    std::uint64_t user{0};
    party* of{nullptr};  ///< instead of a user
    seam::claim_id claim{};
    core::terms_ptr terms{};
    std::shared_ptr<core::hold_state> grant{};
    moment given{};
    bool contended{false};  ///< the client knew that others wait when it was given
    bool told{false};       ///< the loss was announced
    bool let_go{false};
    bool forsaken{false};  ///< the store forgot what it had acknowledged: only the token protects
    lease_state at_release{lease_state::held};

    [[nodiscard]] unsigned pass() const noexcept { return grant->token() & 0xff; }
};

/// One acquire from its beginning to its end.
struct call_record {
    std::uint64_t number{0};
    std::size_t client{0};
    core::terms_ptr terms{};
    moment began{};
    moment deadline{moment::max()};  ///< in true time
    bool wait{true};
    moment stalled_until{};  ///< its client was stopped until then
    int completions{0};
    core::verdict outcome{core::verdict::pending};
};

}  // namespace holdfast::simulation
