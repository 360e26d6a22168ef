// The driver of the family of stores that compare, for MySQL and MariaDB.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <holdfast/options.hpp>

#include "base/random.hpp"
#include "net/poller.hpp"
#include "stores/compare/driver.hpp"
#include "stores/mysql/pool.hpp"
#include "stores/mysql/statements.hpp"

namespace holdfast::stores::mysql {

using log_function = std::function<void(log_level, std::string)>;

/// Every call is one packet on one of a few connections. A call needs a second one only when what it found has to be
/// looked at more closely: a session whose time is over, a miss that was not expected.
///
/// The server tells nobody anything by itself. Letters lie in a table, and one packet for the whole client asks for them:
/// often while a claim of the client stands in a line or a name is watched, seldom while it has a session, else never.
class driver final : public compare::driver {
public:
    driver(settings wanted, compare::driver_events& events, log_function log);

    compare::driver_traits traits() const override { return {}; }
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
    using event = std::function<void(compare::driver_events&)>;
    using reader = std::function<void(answer const&)>;
    using view_reader = std::function<void(std::vector<compare::view>, compare::reading)>;
    using shared_step = std::shared_ptr<compare::step const>;

    struct kept_session {
        std::chrono::milliseconds lease{};
        base::instant until{};  ///< at least so long it may get letters
    };

    /// All of these with the lock held.
    /// A packet that was carried out is read; one that was undone in favour of others is sent again.
    void ask(compare::ticket which, std::string text, reader read, int tries = 0);
    void send(std::string text, std::function<void(answer)> done);
    void fail(compare::ticket which, answer const& found);
    void tell(compare::ticket which, compare::outcome what, compare::reading when);
    /// Ends these sessions first, if their time is still over.
    void look(compare::ticket which, std::vector<compare::name_query> what,
              std::vector<compare::session_id> expired, view_reader then);
    void send_step(compare::ticket which, shared_step what, int tries);
    void on_stepped(compare::ticket which, shared_step const& what, bool along,
                    answer const& found);
    void on_first_branch(compare::ticket which, shared_step const& what, answer const& found);
    void on_second_branch(compare::ticket which, shared_step const& what, answer const& found,
                          std::size_t result);
    void ask_for_mail();
    [[nodiscard]] std::vector<compare::session_id> addresses() const;
    /// Whether there were new ones.
    bool take_letters(std::vector<row> const& found);
    void on_mail(answer const& found, std::vector<compare::name_key> const& watched);
    /// Something may come soon.
    void hasten();
    void look_at_sessions();
    void sweep();
    void sweep_leftovers();
    void post(event what) { deliveries_.push_back(std::move(what)); }
    [[nodiscard]] bool enter(compare::ticket which);
    [[nodiscard]] base::instant next_due() const noexcept;
    void drive(guard& held, base::instant until);
    bool deliver(guard& held);

    settings const settings_;
    schema const tables_;
    compare::driver_events& events_;
    log_function const log_;

    net::poller poller_;
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> abandoned_{false};

    std::mutex mutex_;  ///< guards what follows
    bool shut_{false};
    bool down_{false};         ///< said, and no answer came since
    bool said_galera_{false};  ///< in the log
    base::instant now_{};
    base::random chance_;
    pool pool_;
    std::map<compare::session_id, kept_session> own_;
    std::map<compare::name_key, std::optional<compare::stamp>>
        watched_;                                                    ///< as they were last seen
    std::map<compare::session_id, base::instant> watched_sessions_;  ///< and when to look next
    std::set<std::uint64_t> read_;  ///< letters that were delivered and may still be in the table
    bool waiting_{false};           ///< for a grant, or a change
    bool asking_{false};            ///< for mail
    std::uint64_t standing_{0};     ///< in line, up to the one of ours who has waited longest
    std::chrono::microseconds mail_pause_{};
    base::instant mail_at_{base::never};
    base::instant sweep_at_{};
    /// Names on which the last step came to its second branch: the next one brings it along.
    std::set<compare::name_key> contended_;
    std::vector<event> deliveries_;
    std::vector<std::pair<log_level, std::string>> words_;
};

}  // namespace holdfast::stores::mysql
