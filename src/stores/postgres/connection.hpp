// One connection to the server: exchanges out, answers and notifications back; it never waits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "base/clock.hpp"
#include "net/poller.hpp"
#include "stores/postgres/answer.hpp"
#include "stores/postgres/statement.hpp"

namespace holdfast::stores::postgres {

class schema;

/// Statements that leave in one piece and are answered together. `done` is called once.
struct exchange {
    std::vector<statement> statements;
    std::function<void(answer)> done;
};

/// Connects, sees that the server is one to be used and that the tables are there, and then carries out
/// exchanges in order. What broke is started again by its owner.
///
/// Thread-safety: none; its owner serialises. Another thread may wait on the poller.
/// Lifetime: all that it is given outlives it.
class connection {
public:
    using exchange = postgres::exchange;
    using answer = postgres::answer;

    class owner {
    public:
        virtual void on_ready(connection& which) = 0;
        /// The exchanges under way have been answered by then.
        virtual void on_broken(connection& which, base::error const& why) = 0;
        virtual void on_notification(std::string_view /*payload*/) {}

    protected:
        ~owner() = default;
    };

    connection(settings const& to, schema const& tables, net::poller& events,
               net::poller::tag about, owner& tell);
    ~connection();
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;

    /// Begins to connect; only when it is not connected.
    void start(base::instant now);
    void send(exchange what, base::instant now);
    /// The poller reported it, or its time has come.
    void advance(std::uint32_t kinds, base::instant now);
    /// Ends it; what is under way is lost.
    void cut(base::error const& why);
    /// In the child of a fork: lets go of the socket without a word to the server.
    void abandon() noexcept;

    [[nodiscard]] bool is_ready() const noexcept { return at_ == phase::ready; }
    [[nodiscard]] bool has_room() const noexcept { return is_ready(); }  ///< they are pipelined
    [[nodiscard]] bool is_off() const noexcept { return at_ == phase::off; }
    /// Nothing lies in the socket that was not read yet.
    [[nodiscard]] bool is_silent() const noexcept;
    /// Tables were missing.
    [[nodiscard]] bool has_made_tables() const noexcept { return tries_to_make_ > 0; }
    /// No pooler stands in between; known when it is ready.
    [[nodiscard]] bool is_direct() const noexcept { return direct_; }
    [[nodiscard]] net::poller::tag about() const noexcept { return about_; }
    [[nodiscard]] std::size_t unanswered() const noexcept { return pending_.size(); }
    /// When it is too late for what is under way.
    [[nodiscard]] base::instant due() const noexcept;

private:
    enum class phase { off, connecting, greeting, ready };
    enum class part : std::uint8_t { preparation, result, end };

    struct expectation {
        part what{part::result};
        statement_text const* text{nullptr};
    };
    /// One exchange. Its statements are sent, and what is expected comes in, from the front on.
    struct pending {
        std::function<void(answer)> done;
        std::vector<statement> statements;
        std::size_t put{0};  ///< so many statements were
        std::vector<expectation> expected{};
        std::size_t come{0};  ///< so many expectations have
        answer found{};
        base::instant sent{};

        [[nodiscard]] bool is_put() const noexcept { return put == statements.size(); }
        [[nodiscard]] bool awaits_nothing() const noexcept { return come == expected.size(); }
    };

    void go_on_connecting();
    void greet();
    void on_greeting(answer found);
    void be_usual();
    void look_for_tables();
    void on_tables(answer found);
    void make_tables();
    void put_more();
    void put_transaction(pending& of);
    void put(statement const& what, pending& of);
    [[nodiscard]] bool has_several_transactions_to_put() const noexcept;
    void hold_back(bool so) noexcept;
    void take_results();
    void take(PGresult* result);
    void take_notifications();
    void flush();
    void watch(std::uint32_t interest);
    void fail(base::error const& why);
    [[nodiscard]] base::error trouble() const;

    settings const& to_;
    schema const& tables_;
    net::poller& events_;
    net::poller::tag const about_;
    owner& owner_;
    PGconn* connected_{nullptr};
    net::poller::registration registration_;
    phase at_{phase::off};
    bool direct_{false};  ///< statements may be prepared
    int tries_to_make_{0};
    base::instant now_{};
    base::instant started_{};
    std::set<std::string_view> prepared_;
    std::deque<pending> pending_;
    /// Of the statement that is being put; kept for the next.
    std::vector<char const*> values_;
    std::vector<int> lengths_;
    std::vector<int> formats_;
};

}  // namespace holdfast::stores::postgres
