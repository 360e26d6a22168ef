// The driver of the family of stores that compare, for PostgreSQL.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "stores/postgres/connection.hpp"
#include "stores/postgres/messages.hpp"
#include "stores/postgres/statements.hpp"
#include "stores/sql/driver.hpp"
#include "stores/sql/pool.hpp"

namespace holdfast::stores::postgres {

/// What databases have in common, in the words of PostgreSQL; and messages, which it delivers itself.
class driver final : public sql::driver {
public:
    driver(settings wanted, compare::driver_events& events, compare::log_function log);

    compare::driver_traits traits() const override;
    void open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
              std::string body) override;
    void raise(compare::ticket which, compare::session_id id) override;
    void close(compare::session_id id) noexcept override;
    void list(compare::ticket which, compare::listing what) override;
    void watch(compare::ticket which, compare::name_key key) override;
    void unwatch(compare::name_key key) noexcept override;

private:
    /// What is done with an answer that came whole and without an error.
    using reader = std::function<void(answer)>;

    void tend() override HOLDFAST_REQUIRES(mutex_);
    void take(std::span<net::poller::event const> events) override HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] base::instant next_due() const noexcept override HOLDFAST_REQUIRES(mutex_);
    void cut() noexcept override HOLDFAST_REQUIRES(mutex_);
    void abandon() noexcept override HOLDFAST_REQUIRES(mutex_);

    void send_signs_of_life(compare::ticket which,
                            std::vector<compare::session_id> const& ids) override
        HOLDFAST_REQUIRES(mutex_);
    void forget(compare::session_id id) override HOLDFAST_REQUIRES(mutex_) {
        messages_.forget_letters(id);
    }
    void send_look(sql::call which, std::vector<compare::name_query> what,
                   std::vector<compare::session_id> reaped, viewed_reader then) override
        HOLDFAST_REQUIRES(mutex_);
    void send_step(compare::ticket which, sql::shared_step what, bool along) override
        HOLDFAST_REQUIRES(mutex_);
    void send_look_at(std::vector<compare::session_id> ids) override HOLDFAST_REQUIRES(mutex_);
    void send_sweep(bool in_passing) override HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] bool is_connected() const noexcept override { return connections_.is_up(); }
    [[nodiscard]] bool is_busy() const noexcept override { return connections_.is_busy(); }
    void make_ballots(sql::call which, std::function<void()> then) override
        HOLDFAST_REQUIRES(mutex_);

    void send(std::vector<statement> what, std::function<void(answer)> done)
        HOLDFAST_REQUIRES(mutex_) {
        connections_.send({std::move(what), std::move(done)}, now_);
    }
    void ask(sql::call which, std::vector<statement> what, reader read) HOLDFAST_REQUIRES(mutex_);
    void fail(sql::call const& which, answer const& found) HOLDFAST_REQUIRES(mutex_);
    /// Whoever says that sessions are dead has ended them before. -> those that live all the same
    void end_for_good(sql::call which, std::vector<compare::session_id> const& ids,
                      std::function<void(std::set<compare::session_id> const&)> then)
        HOLDFAST_REQUIRES(mutex_);
    void sweep(int turns) HOLDFAST_REQUIRES(mutex_);
    void sweep_in_passing() HOLDFAST_REQUIRES(mutex_);

    settings const settings_;
    schema const tables_;
    statements const statements_;
    sql::pool<connection> connections_;
    messages messages_;
    bool met_{false};  ///< there was a connection
};

}  // namespace holdfast::stores::postgres
