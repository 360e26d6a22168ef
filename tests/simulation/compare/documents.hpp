// The simulated server of a store that compares: the document server of the drivers' tests on the world's time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "compare/document_server.hpp"
#include "seam/request.hpp"
#include "simulation/compare/document_witness.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

class overseer;
class world;

class documents final : private driver_tests::server_listener {
public:
    using server = driver_tests::document_server;
    using answer_to = std::function<void(stores::compare::outcome, seam::store_time)>;
    using call = std::function<stores::compare::outcome(server&, seam::store_time)>;

    explicit documents(world& where);
    ~documents();

    /// Does what a client has asked for, now or when the store speaks again.
    void receive(call what, answer_to answer);
    /// A step of this client, in its moments.
    void receive(seam::client_id from, stores::compare::step what, answer_to answer);
    /// Signs of life.
    void receive(std::vector<stores::compare::session_id> ids, answer_to answer);
    /// A step at once, for those who live in the store's own room.
    [[nodiscard]] stores::compare::outcome commit(seam::client_id from, stores::compare::step what);

    [[nodiscard]] stores::compare::outcome open(server& on, stores::compare::session_id id,
                                                std::chrono::milliseconds lease, std::string body,
                                                driver_tests::server_listener* owner,
                                                seam::store_time now);
    [[nodiscard]] stores::compare::kept keep(server& on, stores::compare::session_id id,
                                             seam::store_time now);

    /// An operator carries out a request with the product's own code.
    void operate(seam::request what);
    /// An operator ends a session.
    void end_one(std::uint64_t draw);
    /// Somebody who can write to the store tells a waiter that it was let in.
    void forge(std::uint64_t draw);

    [[nodiscard]] server& behind() noexcept { return server_; }
    [[nodiscard]] document_witness& seen() noexcept { return seen_; }

private:
    void on_letter(stores::compare::session_id, std::string const&,
                   stores::compare::stamp) override {}
    void on_changed(stores::compare::name_key const&) override {}
    void on_session_end(stores::compare::session_id which) override;
    void go_on(std::shared_ptr<driver_tests::step_run> run, seam::client_id from, answer_to answer);
    [[nodiscard]] std::string words(driver_tests::step_run const& run, seam::client_id from,
                                    stores::compare::outcome const& what) const;
    void expire_at(seam::store_time when);

    world& world_;
    server server_;
    document_witness seen_;
    std::set<stores::compare::session_id> sessions_;  ///< that live, and with which claims do
    bool evicting_{false};
    std::unique_ptr<overseer> operator_;
};

}  // namespace holdfast::simulation
