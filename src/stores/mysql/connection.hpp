// One connection to the server: packets out, answers back, one at a time; it never waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <mysql.h>
#include <poll.h>

#include "base/clock.hpp"
#include "net/poller.hpp"
#include "stores/mysql/answer.hpp"
#include "stores/mysql/schema.hpp"
#include "stores/mysql/server_life.hpp"
#include "stores/mysql/settings.hpp"

namespace holdfast::stores::mysql {

/// Connects, sees that the server is one to be used and that the tables are there, and then carries out exchanges. It runs
/// on the non-blocking calls of libmariadb. What broke is started again by its owner.
///
/// Thread-safety: none; its owner serialises. Another thread may wait on the poller.
/// Lifetime: all that it is given outlives it.
class connection {
public:
    using exchange = mysql::exchange;
    using answer = mysql::answer;

    class owner {
    public:
        /// It has nothing to do: `send` may be called.
        virtual void on_ready(connection& which) = 0;
        /// The exchange under way has been answered by then.
        virtual void on_broken(connection& which, base::error const& why) = 0;

    protected:
        ~owner() = default;
    };

    connection(settings const& to, schema const& tables, net::poller& events,
               net::poller::tag about, owner& tell);
    ~connection() { close(); }
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;

    /// Begins to connect; only when it is not connected.
    void start(base::instant now);
    /// Only when it is free.
    void send(exchange what, base::instant now);
    /// The poller reported it, or its time has come.
    void advance(std::uint32_t events, base::instant now);
    /// Ends it; what is under way is lost.
    void cut(base::error const& why);
    /// In the child of a fork: lets go of the socket without a word to the server.
    void abandon() noexcept;

    [[nodiscard]] bool is_ready() const noexcept { return at_ == phase::ready; }
    [[nodiscard]] bool has_room() const noexcept { return is_ready() && !under_way_; }
    [[nodiscard]] std::size_t unanswered() const noexcept { return under_way_ ? 1 : 0; }
    [[nodiscard]] bool is_off() const noexcept { return at_ == phase::off; }
    /// Nodes that all take writes; known when it is up.
    [[nodiscard]] bool is_galera() const noexcept { return galera_; }
    /// Nothing lies in the socket that was not read yet.
    [[nodiscard]] bool is_silent() const noexcept {
        pollfd here{::mysql_get_socket(connected_), POLLIN, 0};
        return ::poll(&here, 1, 0) == 0;
    }
    /// Nothing was sent since it is up.
    [[nodiscard]] bool is_fresh() const noexcept { return fresh_; }
    /// Tables were missing.
    [[nodiscard]] bool has_made_tables() const noexcept { return tries_to_make_ > 0; }
    [[nodiscard]] server_life life() const noexcept { return life_; }
    /// When it is too late for what is under way.
    [[nodiscard]] base::instant due() const noexcept {
        return at_ == phase::off || (at_ == phase::ready && !under_way_) ? base::never
                                                                         : sent_ + to_.timeout;
    }

private:
    enum class phase { off, connecting, greeting, ready };
    enum class call { none, connect, query, store, next };  ///< of libmariadb, under way

    void set_options();
    void put(exchange what);
    void go_on(int waits);
    /// A call has come to its end; -> what the next one waits for, 0 when it is done at once, or -1 when all are.
    [[nodiscard]] int finished();
    void take_rows(MYSQL_RES* result);
    void note_error();
    void complete();
    void await(int waits);
    void unwatch() noexcept {
        registration_.end();
        watched_ = false;
    }
    void close() noexcept;
    void fail(base::error const& why);

    void greet();
    void on_greeting(answer const& found);
    void look_for_tables();
    void on_tables(answer const& found);
    void make_tables(std::size_t next);
    void refuse(std::string words, errc why = errc::store_unavailable);

    settings const& to_;
    schema const& tables_;
    net::poller& events_;
    net::poller::tag const about_;
    owner& owner_;
    MYSQL* connected_{nullptr};
    net::poller::registration registration_;
    bool watched_{false};  ///< by the poller
    bool secure_{false};   ///< TLS, or it may be
    phase at_{phase::off};
    call calling_{call::none};
    MYSQL* connect_result_{nullptr};
    MYSQL_RES* stored_{nullptr};
    int failed_{0};  ///< what the call under way returned
    base::instant now_{};
    base::instant sent_{};
    std::optional<exchange> under_way_;
    std::string text_;              ///< as it was sent
    std::size_t before_commit_{0};  ///< so many statements stand before the first COMMIT
    std::size_t carried_out_{0};
    answer found_;
    bool rows_{false};  ///< numbers come from rows
    bool galera_{false};
    int tries_to_make_{0};
    std::int64_t server_time_{0};
    seam::clock_id clock_{};
    base::instant connected_since_{};
    bool fresh_{false};
    server_life life_{};
};

}  // namespace holdfast::stores::mysql
