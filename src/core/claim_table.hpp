// The claims of one client: found by number, and by the name that they want.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "core/cell_watches.hpp"
#include "core/claim_numbers.hpp"
#include "core/claim_state.hpp"
#include "core/engine_context.hpp"
#include "core/name_watches.hpp"
#include "core/waiting_claims.hpp"

namespace holdfast::core {

/// Owns the claims, and keeps what depends on their phases: who wants a name, and which names are watched
/// for them at a store without a line.
///
/// Thread-safety: none; it belongs to the engine.
class claim_table {
public:
    claim_table(engine_context& shared, cell_watches const& watches) noexcept
        : shared_{shared}, cell_watches_{watches} {}
    ~claim_table();
    claim_table(claim_table const&) = delete;
    claim_table& operator=(claim_table const&) = delete;

    /// Names one swap for ever.
    [[nodiscard]] seam::claim_id next_operation() noexcept {
        return {shared_.settings.self, numbers_.next()};
    }
    /// A claim for those who wait in the queue, of which it is the current one.
    claim_state& add(std::shared_ptr<wait_queue> const& queue);
    /// Null when there is none of this number any more.
    [[nodiscard]] claim_state* find(std::uint64_t number) const noexcept;
    /// In the order in which they were made.
    [[nodiscard]] std::vector<claim_state*> all() const;
    [[nodiscard]] auto const& by_number() const noexcept { return claims_; }
    [[nodiscard]] bool empty() const noexcept { return claims_.empty(); }
    /// The claim is no more: at a store with sessions neither here nor there.
    void remove(claim_state& claim);

    /// The only way from one phase to another.
    void enter(claim_state& claim, claim_phase next);
    /// Numbers of those who want a name of this hash and do not have it; perhaps some of another name.
    [[nodiscard]] std::vector<std::uint64_t> wanting(std::size_t name_hash) const {
        return waiting_.find(name_hash);
    }

    /// Ends the renewals on demand that were waiting when what is answered now was sent.
    void finish_renew_calls(claim_state& claim, base::instant sent = base::never);

    /// At a store without a line: sees that changes of the name are told as long as the claim wants it.
    void watch_name(claim_state& claim, base::instant now);
    /// Whether the store is asked to tell of the name.
    [[nodiscard]] bool is_watched(std::string const& name) const { return name_watches_.has(name); }
    /// The connection may have been lost, and the watches with it.
    void on_disconnection() noexcept { name_watches_.on_disconnection(); }

private:
    void unwatch_name(claim_state& claim);

    engine_context& shared_;
    cell_watches const& cell_watches_;
    boost::unordered_flat_map<std::uint64_t, claim_state*> claims_;
    waiting_claims waiting_;
    name_watches name_watches_;
    claim_numbers numbers_;
};

}  // namespace holdfast::core
