// What a lease store keeps, and the few steps by which its rules reach it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "seam/store.hpp"
#include "stores/lease/ballot_memory.hpp"

namespace holdfast::stores::lease {

/// One claim as the store keeps it.
struct entry {
    seam::claim subject;
    std::shared_ptr<seam::identity const> who;
    claim_mode mode{claim_mode::exclusive};  ///< as converted; the spec keeps what was asked for
    std::uint32_t permits{1};
    bool held{false};
    bool kept{false};  ///< released early under a minimum hold: nobody's, but in the way
    seam::sequence number{};
    seam::store_time since{};    ///< granted, or arrived in the line
    seam::store_time began{};    ///< the lease's last beginning
    seam::store_time expires{};  ///< for a waiter: it counts as dead from here on
    std::shared_ptr<seam::revocation_word> revocation{};  ///< by which its client may put it aside
    std::uint64_t generation{0};
};

/// What all claims and cells of one name have in common.
struct name_record {
    std::string name;
    lock_kind kind{lock_kind::lock};
    std::uint32_t declared{0};  ///< a semaphore's declared limit
    std::uint32_t current{0};   ///< and the one in force
    std::uint32_t used{0};      ///< permits held
    std::uint32_t holders{0};
    std::uint32_t waiters{0};
    std::uint32_t fair_waiters{0};
    std::uint32_t cells{0};
    bool shared{false};             ///< the holders hold in shared mode
    seam::store_time keep_until{};  ///< a changed limit is remembered until then

    [[nodiscard]] bool empty(seam::store_time now) const noexcept {
        return holders == 0 && waiters == 0 && cells == 0 && keep_until <= now;
    }
};

/// A cell as the store keeps it.
struct cell_record {
    std::uint64_t version{0};
    std::string value;
    seam::claim_id operation{};
    seam::store_time expires{};
};

/// Storage of one lease store within one exclusive section (a lock or a transaction).
///
/// The rules change records and entries in place and then call `save`; pointers stay valid until
/// the thing is erased or the section ends. Each step must cost the same however many waiters a
/// name has. Failures of the storage are exceptions, which undo the whole section.
///
/// Thread-safety: none; whoever has begun the section is alone with it.
class ledger {
public:
    virtual ~ledger() = default;

    /// Conditions live beside the other kinds; all others share one space of names.
    [[nodiscard]] virtual name_record* find(std::string_view name, std::size_t hash,
                                            bool condition) = 0;
    virtual name_record& make(seam::claim_spec const& spec) = 0;
    virtual void save(name_record& record) = 0;
    virtual void erase(name_record& record) = 0;

    [[nodiscard]] virtual entry* find(name_record& record, seam::claim_id id) = 0;
    virtual entry& add(name_record& record, entry made) = 0;  ///< waiters go to the end of the line
    virtual void save(name_record& record, entry& changed) = 0;
    /// A waiter becomes a holder: leaves the line, is saved.
    virtual void promote(name_record& record, entry& waiter) = 0;
    virtual void remove(name_record& record, entry& ended) = 0;
    [[nodiscard]] virtual entry* soonest_holder(name_record& record) = 0;
    /// None also when the ledger takes no more changes in this section: the line moves on in another one.
    [[nodiscard]] virtual entry* first_waiter(name_record& record) = 0;

    using visitor = std::function<void(entry const&)>;
    virtual void each_holder(name_record& record, visitor const& visit) = 0;
    virtual void each_waiter(name_record& record, visitor const& visit) = 0;  ///< in order

    /// Rises by every call, over restarts of the store too.
    [[nodiscard]] virtual seam::sequence next_sequence() = 0;

    /// What is remembered of ballots; none where the store takes none.
    [[nodiscard]] virtual ballot_memory* ballots() { return nullptr; }

    virtual void put_tombstone(seam::claim_id id, seam::store_time until) = 0;
    [[nodiscard]] virtual bool has_tombstone(seam::claim_id id, seam::store_time now) = 0;

    [[nodiscard]] virtual cell_record* find_cell(seam::cell_key const& key) = 0;
    virtual void put_cell(seam::cell_key const& key, cell_record value) = 0;
    virtual void erase_cell(seam::cell_key const& key) = 0;
    /// Erases the cells of a name whose time is over. Put and erase keep `record.cells` right.
    virtual void purge_cells(name_record& record, seam::store_time now) = 0;

    virtual void watch(seam::client_id client, seam::cell_key const& key, bool on) = 0;
    [[nodiscard]] virtual bool watched() = 0;  ///< whether anybody watches anything: cheap
    virtual void each_watcher(seam::cell_key const& key,
                              std::function<void(seam::client_id)> const& visit) = 0;

    /// The names behind `after` that begin with `prefix`, in order, at most `most`.
    [[nodiscard]] virtual std::vector<std::string> names(std::string_view prefix,
                                                         std::string_view after,
                                                         std::size_t most) = 0;

    /// The names behind `after` on which a claim with an owner (or an actor) waits, in order, at most
    /// `most`; it may list others that are waited for. Must not cost more when others are stored.
    [[nodiscard]] virtual std::vector<std::string> waited_names(std::string_view after,
                                                                std::size_t most) = 0;
};

}  // namespace holdfast::stores::lease
