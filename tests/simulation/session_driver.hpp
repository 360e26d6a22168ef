// What a driver of a session store does unseen by the engine: keeps sessions alive, and tells of their state.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "seam/notice.hpp"
#include "simulation/sessions.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

class client;
class world;

class session_driver {
public:
    session_driver(world& where, client& whose) : world_{where}, client_{whose} {}

    /// The session in which a claim with this lease is submitted now; it is begun when there is none.
    [[nodiscard]] session_ref session_for(seam::claim const& subject);
    /// What the session told or answers after its end is not passed on.
    [[nodiscard]] bool over(std::uint64_t number) const { return over_.contains(number); }

    /// The connection has broken: nothing is known until the store is heard again.
    void disconnected();

private:
    struct session {
        session_ref ref{};
        std::set<seam::claim_id> claims{};
        moment asked{0};  ///< when the oldest heartbeat without an answer was sent; 0 without one
        bool doubted{false};
    };

    [[nodiscard]] session* find(std::uint64_t number);
    void keep(std::uint64_t number);
    void beat(session& one);
    void heard(std::uint64_t number, bool alive);
    void doubt(session& one, char const* why);
    void tell(session const& one, seam::session_changed::state became, std::string why);

    world& world_;
    client& client_;
    std::map<std::chrono::milliseconds, session> sessions_;  ///< by the lease that the store gives
    std::set<std::uint64_t> over_;
};

}  // namespace holdfast::simulation
