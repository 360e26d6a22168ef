// What the documents of a simulated store say, told to the witness: it learns what has become of a name by
// comparing it with what it was.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compare/document_server.hpp"
#include "simulation/holds.hpp"
#include "stores/compare/head.hpp"

namespace holdfast::simulation {

class world;

class document_witness {
public:
    document_witness(world& where, driver_tests::document_server& server)
        : world_{where}, server_{server} {}

    /// Somebody may have changed the name.
    void look(stores::compare::name_key const& key, seam::client_id by);
    void opened(stores::compare::session_id id, seam::store_time ends,
                std::chrono::milliseconds lease);
    /// A sign of life; until when it lasts now.
    seam::store_time kept_alive(stores::compare::session_id id, seam::store_time now);
    void session_ended(stores::compare::session_id id, store_end how);

    /// A client submits the claim: a spec is known by its address, and the store has only its words.
    void submitted(seam::claim const& subject) {
        if (specs_.emplace(subject.id, subject.spec).second) undecided_.insert(subject.id);
    }
    /// A client lets go of it, and it is to be in the way for a while.
    void settling(seam::settle const& what);
    /// Its client knows what has become of it.
    void decided(seam::claim_id id) { undecided_.erase(id); }
    [[nodiscard]] bool undecided(seam::claim_id id) const { return undecided_.contains(id); }

    /// A claim that holds or waits in a session that lives; not what is only kept under a minimum hold.
    struct entry {
        seam::claim_id id{};
        stores::compare::session_id session{};
    };
    [[nodiscard]] std::vector<entry> entries() const;

    /// Whether it was seen in the store, and every session in which it was seen lives.
    [[nodiscard]] bool sessions_live(seam::claim_id id) const;
    /// Whether anybody, dead or alive, holds the name or waits for it.
    [[nodiscard]] bool anybody_at(stores::compare::name_key const& key) const;

    struct waiter {
        seam::claim_id id{};
        stores::compare::session_id session{};
        std::uint64_t secret{0};
    };
    /// All who wait and live.
    [[nodiscard]] std::vector<waiter> waiting() const;

private:
    struct claim_state {
        seam::spec_ptr spec;
        stores::compare::session_id session{};
        std::uint64_t secret{0};
        seam::sequence number{};
        bool kept{false};
        seam::store_time kept_until{};
    };
    struct name_state {
        lock_kind kind{};
        std::map<seam::claim_id, claim_state> holders;
        std::vector<std::pair<seam::claim_id, claim_state>> line;
        std::map<std::string, stores::compare::cell_state> cells;
        std::uint32_t limit{0};
        bool limit_kept{false};
    };
    struct session_state {
        seam::store_time ends{};
        std::chrono::milliseconds lease{};
    };

    [[nodiscard]] name_state read(stores::compare::name_key const& key) const;
    [[nodiscard]] claim_state state_of(stores::compare::claim_record const& claim) const;
    [[nodiscard]] bool alive(stores::compare::session_id id) const {
        return sessions_.contains(id);
    }
    [[nodiscard]] seam::store_time end_of(stores::compare::due end) const;
    void tell_ends(name_state const& was, name_state const& is, seam::client_id by);
    void check_kept(seam::claim_id id, seam::store_time until);
    void tell_leavers(name_state const& was, name_state const& is);
    void tell_joins(std::string const& name, name_state const& was, name_state const& is);
    void tell_grants(name_state const& was, name_state const& is, bool joiners);
    void tell_cells(stores::compare::name_key const& key, name_state const& was,
                    name_state const& is);

    world& world_;
    driver_tests::document_server& server_;
    std::map<stores::compare::name_key, name_state> names_;
    std::map<stores::compare::session_id, session_state> sessions_;  ///< that live
    std::map<seam::claim_id, seam::spec_ptr> specs_;
    std::set<seam::claim_id> undecided_;
    std::map<seam::claim_id, seam::store_time> kept_at_least_;  ///< under a minimum hold
    std::map<seam::claim_id, std::set<stores::compare::session_id>> sessions_of_;
};

}  // namespace holdfast::simulation
