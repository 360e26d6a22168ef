// An operator at a simulated store that compares: the product's machine over a driver that never fails.
#pragma once

#include <deque>
#include <functional>

#include "simulation/compare/documents.hpp"
#include "stores/compare/machine.hpp"

namespace holdfast::simulation {

class overseer final : private stores::compare::driver {
public:
    overseer(world& where, documents& at);

    /// At once, all of it.
    void carry_out(seam::request const& what);

private:
    using ticket = stores::compare::ticket;
    using session_id = stores::compare::session_id;
    using outcome = stores::compare::outcome;

    void answer(ticket which, outcome what) { done_.emplace_back(which, std::move(what)); }

    [[nodiscard]] stores::compare::driver_traits traits() const override;
    void open(ticket which, session_id id, std::chrono::milliseconds lease,
              std::string body) override;
    void keep(ticket which, std::vector<session_id> ids) override;
    void raise(ticket which, session_id id) override;
    void close(session_id) noexcept override {}
    void fetch(ticket which, stores::compare::query what) override;
    void list(ticket which, stores::compare::listing what) override;
    void commit(ticket which, stores::compare::step what) override;
    void watch(ticket which, stores::compare::name_key) override {
        answer(which, stores::compare::in_force{});
    }
    void unwatch(stores::compare::name_key) noexcept override {}
    void watch_session(session_id) override {}
    void unwatch_session(session_id) noexcept override {}
    void drive(base::instant) override {}
    void interrupt() noexcept override {}
    void shut() noexcept override {}
    [[nodiscard]] int descriptor() noexcept override { return -1; }

    world& world_;
    documents& documents_;
    std::deque<std::pair<ticket, outcome>> done_;
    stores::compare::machine machine_;
};

}  // namespace holdfast::simulation
