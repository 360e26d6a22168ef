// The driver of the family of stores that compare, for PostgreSQL.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <holdfast/options.hpp>

#include "net/poller.hpp"
#include "stores/compare/driver.hpp"
#include "stores/postgres/connections.hpp"
#include "stores/postgres/messages.hpp"
#include "stores/postgres/statements.hpp"

namespace holdfast::stores::postgres {

using log_function = std::function<void(log_level, std::string)>;

/// Every call is one exchange on one of a few connections. A call needs a second one only when what it
/// found has to be looked at more closely: a session whose time is over, a miss that was not expected.
class driver final : public compare::driver {
public:
    driver(settings wanted, compare::driver_events& events, log_function log);
    ~driver() override;

    compare::driver_traits traits() const override;
    void open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
              std::string body) override;
    void keep(compare::ticket which, std::vector<compare::session_id> ids) override;
    void raise(compare::ticket which, compare::session_id id) override;
    void close(compare::session_id id) noexcept override;
    void fetch(compare::ticket which, compare::query what) override;
    void list(compare::ticket which, compare::listing what) override;
    void commit(compare::ticket which, compare::step what) override;
    void watch(compare::ticket which, compare::name_key key) override;
    void unwatch(compare::name_key key) noexcept override;
    void watch_session(compare::session_id id) override;
    void unwatch_session(compare::session_id id) noexcept override;
    void drive(base::instant until) override;
    void interrupt() noexcept override;
    void shut() noexcept override;
    int descriptor() noexcept override { return poller_.descriptor(); }
    void abandon_in_child() noexcept override;

private:
    using guard = std::unique_lock<std::mutex>;
    using event = messages::event;
    /// What is done with an answer that came whole and without an error.
    using reader = std::function<void(answer)>;

    /// All of these with the lock held.
    void ask(compare::ticket which, std::vector<statement> what, reader read);
    void send(std::vector<statement> what, std::function<void(answer)> done);
    void fail(compare::ticket which, answer const& found);
    void tell(compare::ticket which, compare::outcome what, compare::reading when);
    using view_reader = std::function<void(std::vector<compare::view>, compare::reading)>;
    /// Ends these sessions first, if their time is still over.
    void look(compare::ticket which, std::vector<compare::name_query> what,
              std::vector<compare::session_id> expired, view_reader then);
    void on_stepped(compare::ticket which, compare::step const& what, answer found);
    void on_first_branch(compare::ticket which, compare::step const& what, answer const& found);
    void on_second_branch(compare::ticket which, compare::step const& what, answer const& found);
    void look_at_sessions();
    void sweep(int turns);
    void tend();
    void post(event what) { deliveries_.push_back(std::move(what)); }
    [[nodiscard]] bool enter(compare::ticket which);
    [[nodiscard]] base::instant next_due() const noexcept;
    void drive(guard& held, base::instant until);
    bool deliver(guard& held);

    settings const settings_;
    schema const tables_;
    statements const statements_;
    compare::driver_events& events_;
    log_function const log_;

    net::poller poller_;
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> abandoned_{false};

    std::mutex mutex_;  ///< guards what follows
    bool shut_{false};
    bool down_{false};  ///< said, and no answer came since
    base::instant now_{};
    connections connections_;
    messages messages_;
    std::map<compare::session_id, base::instant> watched_sessions_;  ///< and when to look next
    base::instant sweep_at_{};
    /// Names on which the last step came to its second branch: the next one brings its look with it.
    std::set<compare::name_key> contended_;
    std::vector<event> deliveries_;
    std::vector<std::pair<log_level, std::string>> words_;  ///< for the log
};

}  // namespace holdfast::stores::postgres
