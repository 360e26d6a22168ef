// The driver of the family of stores that compare, for MySQL and MariaDB.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/mysql/connection.hpp"
#include "stores/mysql/mailbox.hpp"
#include "stores/mysql/statements.hpp"
#include "stores/sql/driver.hpp"
#include "stores/sql/pool.hpp"

namespace holdfast::stores::mysql {

/// What databases have in common, in packets of MySQL; and a mailbox, since it delivers nothing itself.
class driver final : public sql::driver {
public:
    driver(settings wanted, compare::driver_events& events, compare::log_function log);

    compare::driver_traits traits() const override { return {.ballots = true}; }
    void open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
              std::string body) override;
    void raise(compare::ticket which, compare::session_id id) override;
    void close(compare::session_id id) noexcept override;
    void list(compare::ticket which, compare::listing what) override;
    void watch(compare::ticket which, compare::name_key key) override;
    void unwatch(compare::name_key key) noexcept override;

private:
    using reader = std::function<void(answer const&)>;

    void tend() override HOLDFAST_REQUIRES(mutex_);
    void take(std::span<net::poller::event const> events) override HOLDFAST_REQUIRES(mutex_) {
        pool_.take(events, now_);
    }
    [[nodiscard]] base::instant next_due() const noexcept override HOLDFAST_REQUIRES(mutex_);
    void cut() noexcept override HOLDFAST_REQUIRES(mutex_);
    void abandon() noexcept override HOLDFAST_REQUIRES(mutex_) { pool_.abandon(); }

    void send_signs_of_life(compare::ticket which,
                            std::vector<compare::session_id> const& ids) override
        HOLDFAST_REQUIRES(mutex_);
    void forget(compare::session_id id) override HOLDFAST_REQUIRES(mutex_) { mailbox_.forget(id); }
    void send_look(sql::call which, std::vector<compare::name_query> what,
                   std::vector<compare::session_id> reaped, viewed_reader then) override
        HOLDFAST_REQUIRES(mutex_);
    void send_step(compare::ticket which, sql::shared_step what, bool along) override
        HOLDFAST_REQUIRES(mutex_) {
        send_step(which, std::move(what), along, 0);
    }
    void send_step(compare::ticket which, sql::shared_step what, bool along, int tries)
        HOLDFAST_REQUIRES(mutex_);
    void send_second_branch(compare::ticket which, sql::shared_step const& what) override
        HOLDFAST_REQUIRES(mutex_);
    void send_look_at(std::vector<compare::session_id> ids) override HOLDFAST_REQUIRES(mutex_);
    void send_sweep(bool in_passing) override HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] bool is_connected() const noexcept override { return pool_.is_up(); }
    [[nodiscard]] bool is_busy() const noexcept override { return pool_.is_busy(); }
    void make_ballots(sql::call which, std::function<void()> then) override
        HOLDFAST_REQUIRES(mutex_);
    void take_sweep_turn(bool in_passing) HOLDFAST_REQUIRES(mutex_);
    void sweep(int turns, bool in_passing) HOLDFAST_REQUIRES(mutex_);

    /// A packet that was carried out is read; one that was undone in favour of others is sent again.
    void ask(sql::call which, std::string text, reader read, int tries = 0)
        HOLDFAST_REQUIRES(mutex_);
    void send(std::string text, std::function<void(answer)> done) HOLDFAST_REQUIRES(mutex_) {
        pool_.send({std::move(text), std::move(done)}, now_);
    }
    [[nodiscard]] bool is_another_life(connection const& found);
    void fail(sql::call const& which, answer const& found) HOLDFAST_REQUIRES(mutex_);
    /// A grant that was seen, and of which it is not known that it is on the disk.
    using grant = durable_grants::grant;
    void add_doubtful(std::vector<grant>& to, sql::viewed const& seen) const;
    /// Goes on when all of them are on the disk.
    void prove(sql::call which, std::vector<grant> const& seen, std::function<void()> then)
        HOLDFAST_REQUIRES(mutex_);
    void on_branches(compare::ticket which, sql::shared_step const& what, sql::stepped found)
        HOLDFAST_REQUIRES(mutex_);
    /// The look behind the first `result` results, and what stands there where the branch has appended.
    [[nodiscard]] sql::stepped second_branch_in(answer const& found, std::size_t result,
                                                compare::step const& what);

    settings const settings_;
    schema const tables_;
    sql::pool<connection> pool_;
    durable_grants durable_;
    mailbox mailbox_;
    std::optional<server_life> life_;  ///< of the server, by the last connection that was made
    bool said_galera_{false};          ///< in the log
};

}  // namespace holdfast::stores::mysql
