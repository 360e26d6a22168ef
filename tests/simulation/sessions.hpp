// Sessions at the simulated store: the claims of one end together, when it has not been heard of for long.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "seam/reply.hpp"
#include "simulation/holds.hpp"
#include "stores/lease/rules.hpp"

namespace holdfast::simulation {

class world;

/// Names one session of one client for ever. A client has one for each length of lease that the store gives.
struct session_ref {
    std::uint64_t number{0};  ///< 0: none
    std::chrono::milliseconds lease{0};
};

/// What stands between the requests of clients and the rules, which know of leases only: there a claim of a
/// session lasts for ever, until it is ended here.
class sessions {
public:
    using notices = std::vector<stores::lease::directed_notice>;
    /// Carries out a request by the rules, without a word to the witness.
    using rules = std::function<seam::reply(seam::request const&, notices&)>;
    using messenger = std::function<void(notices)>;

    sessions(world& where, rules apply, messenger push)
        : world_{where}, apply_{std::move(apply)}, push_{std::move(push)} {}

    /// A sign of life. False when the session has ended.
    bool touch(session_ref which);
    /// What the rules are asked instead.
    [[nodiscard]] static seam::request without_leases(seam::request what);
    /// A request was carried out: its claims join their session, and what was granted begins and lasts as
    /// the session does.
    void carried_out(seam::request const& what, session_ref in, seam::reply& answer,
                     notices& pushed);
    /// Ends those whose time is over.
    void end_overdue();
    /// An operator ends one of them.
    void end_one(std::uint64_t draw);
    /// The same for that of a claim.
    void end_of(seam::claim_id id) { end(session_of(id), store_end::evicted); }
    /// The store began anew.
    void forget_all();

    /// The session of a claim; 0 when it is in none.
    [[nodiscard]] std::uint64_t session_of(seam::claim_id id) const;

private:
    struct session {
        std::chrono::milliseconds lease{};
        seam::store_time touched{};
        std::map<seam::claim_id, seam::claim> claims{};
    };

    void end(std::uint64_t number, store_end how);
    void extend(session& one);
    void touch_claim(seam::claim_id id);
    void complete(seam::claim_id id, seam::grant& held) const;

    world& world_;
    rules apply_;
    messenger push_;
    std::map<std::uint64_t, session> alive_;
    std::set<std::uint64_t> ended_;
    std::map<seam::claim_id, std::uint64_t> of_claim_;
};

}  // namespace holdfast::simulation
