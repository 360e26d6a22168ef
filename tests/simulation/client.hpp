// A simulated client: one engine with its own clock and connection, which can be stopped and killed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/engine_visit.hpp"
#include "simulation/drift_clock.hpp"
#include "simulation/link.hpp"
#include "simulation/session_driver.hpp"

namespace holdfast::simulation {

class family_client;
class party;
class user;
class world;

class client {
public:
    client(world& where, std::size_t index);
    ~client();
    client(client const&) = delete;
    client& operator=(client const&) = delete;

    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    [[nodiscard]] std::shared_ptr<seam::identity const> const& self() const noexcept {
        return self_;
    }
    /// For one event; callers are told at its end.
    [[nodiscard]] core::engine_visit engine() noexcept { return core::engine_visit{*engine_}; }
    [[nodiscard]] link& net() noexcept { return net_; }
    [[nodiscard]] session_driver& sessions() noexcept { return sessions_; }
    /// Null unless the store compares.
    [[nodiscard]] family_client* family() noexcept { return family_.get(); }
    [[nodiscard]] drift_clock& clock() noexcept { return clock_; }
    [[nodiscard]] base::instant now() const noexcept;
    [[nodiscard]] bool alive() const noexcept { return alive_; }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    /// Until when it was last stopped: what is late may be excused by it.
    [[nodiscard]] moment stopped_until() const noexcept { return stopped_until_; }

    /// Does something in the client's process: not while it is stopped, never after its death.
    void at(moment when, std::function<void()> what);

    void hear(seam::request_id id, seam::reply const& reply);
    void hear(seam::notice const& what);

    /// The line for these terms: shared where threads may pass the hold to each other.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue_for(core::terms_ptr const& terms);

    /// Its clock runs at another rate from now on: outside the fault model when it is far off.
    void skew(std::int64_t drift);
    void pause(moment until);
    void resume();
    void kill();
    /// Ends it in good order.
    void close();

    /// Whether the client knows that somebody else waits for what this claim holds.
    [[nodiscard]] bool knows_contended(seam::claim_id id) const;
    void forget_contended(seam::claim_id id) { contended_.erase(id); }

    /// Whether its engine has this claim, in whatever state.
    [[nodiscard]] bool knows(seam::claim_id id) const;
    /// Whether it waits for an answer about this claim.
    [[nodiscard]] bool asks_about(seam::claim_id id) const;

    bool leaving{false};  ///< it is about to be closed
    std::vector<std::unique_ptr<user>> users;
    std::vector<std::unique_ptr<party>> parties;

private:
    void send(core::engine::outgoing out);
    void pump();
    void arm();
    void remember(core::engine::outgoing const& out);
    void learn(seam::request_id id, seam::reply const& reply);

    world& world_;
    std::size_t const index_;
    std::shared_ptr<seam::identity const> self_;
    drift_clock clock_;
    link net_;
    session_driver sessions_;
    std::unique_ptr<family_client> family_;
    std::unique_ptr<core::engine> engine_;
    std::vector<std::shared_ptr<core::wait_queue>> lines_;
    std::map<seam::request_id, std::vector<seam::claim_id>> asked_;
    std::map<seam::request_id, seam::claim_id> settling_;
    std::map<seam::claim_id, bool> contended_;
    std::vector<std::function<void()>> backlog_;
    base::instant armed_for_{base::never};
    std::uint64_t timer_{0};
    moment stopped_until_{0};
    bool alive_{true};
    bool stopped_{false};
    bool closed_{false};
};

}  // namespace holdfast::simulation
