// A client's part of a store that compares: the product's machine, over a driver that reaches the simulated server
// as badly as the run wants it.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "simulation/compare/documents.hpp"
#include "stores/compare/machine.hpp"

namespace holdfast::simulation {

class client;

class family_client final : private stores::compare::driver, private driver_tests::server_listener {
public:
    family_client(world& where, client& whose);
    ~family_client();

    void send(seam::request_id id, seam::request const& what);
    /// The connection is cut: calls without an answer are in doubt, and what is told is lost for a while.
    void cut();
    /// The client ends in good order, and has nothing left to say.
    void close();

private:
    using ticket = stores::compare::ticket;
    using session_id = stores::compare::session_id;
    using outcome = stores::compare::outcome;
    using answer_to = documents::answer_to;
    /// Brings a call to the server.
    using carrier = std::function<void(answer_to)>;

    /// `late`: the chance that it is given up and arrives all the same.
    void begin(ticket which, carrier bring, unsigned late);
    void begin(ticket which, carrier bring);
    void ask(ticket which, documents::call what);
    void answer(ticket which, outcome what, seam::store_time now, base::instant sent);
    void deliver(ticket which, outcome what, stores::compare::reading when);
    void doubt_later(ticket which);
    void submit_began(seam::request_id id, seam::claim const& subject);
    void submit_ended(seam::request_id id, seam::reply_body const& body);
    void renewal_ended(seam::request_id id, seam::reply_body const& body);
    void hand_on();
    void arm();

    /// Something that the server tells of its own accord; in order, and lost only together with a gap.
    void tell(std::function<void()> what);
    void break_stream();
    void mend_stream();

    [[nodiscard]] stores::compare::driver_traits traits() const override;
    void open(ticket which, session_id id, std::chrono::milliseconds lease,
              std::string body) override;
    void keep(ticket which, std::vector<session_id> ids) override;
    void raise(ticket which, session_id id) override;
    void close(session_id id) noexcept override;
    void fetch(ticket which, stores::compare::query what) override;
    void list(ticket which, stores::compare::listing what) override;
    void commit(ticket which, stores::compare::step what) override;
    void watch(ticket which, stores::compare::name_key key) override;
    void unwatch(stores::compare::name_key key) noexcept override;
    void watch_session(session_id id) override;
    void unwatch_session(session_id id) noexcept override;
    void drive(base::instant) override {}
    void interrupt() noexcept override {}
    void shut() noexcept override {}
    [[nodiscard]] int descriptor() noexcept override { return -1; }

    void on_letter(session_id to, std::string const& body, stores::compare::stamp written) override;
    void on_changed(stores::compare::name_key const& key) override;
    void on_session_end(session_id which) override;

    [[nodiscard]] stores::compare::environment surroundings();
    [[nodiscard]] documents& store();

    world& world_;
    client& client_;
    std::set<ticket> open_;
    std::map<seam::request_id, seam::claim_id> submits_;  ///< without an answer
    std::map<seam::request_id, std::vector<seam::claim_id>> renewals_;
    std::uint64_t stream_{0};  ///< what was told by an earlier one is lost
    bool deaf_{false};
    moment last_told_{0};
    base::instant armed_for_{base::never};
    stores::compare::machine machine_;
};

}  // namespace holdfast::simulation
