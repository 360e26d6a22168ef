// The few connections by which all threads of a client send their exchanges.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stores/postgres/connection.hpp"

namespace holdfast::stores::postgres {

/// Opens the first one when something is to be sent, and others while all are busy. What cannot be sent
/// waits for the next try to connect, and is answered with its failure.
///
/// Thread-safety: none; its owner serialises.
class connections final : connection::owner {
public:
    /// Called when there is no connection any more, and when there is one again.
    struct listener {
        std::function<void(base::error const&)> on_down;
        std::function<void()> on_up;
    };

    connections(settings const& to, schema const& tables, net::poller& events, listener who);

    void send(exchange what, base::instant now);
    [[nodiscard]] bool is_up() const noexcept;

    void take(std::span<net::poller::event const> events, base::instant now);
    /// What time brings.
    void tend(base::instant now);
    [[nodiscard]] base::instant due() const noexcept;

    /// Ends all of them: the tables are to be looked for again.
    void cut(base::error const& why);
    void abandon() noexcept;

private:
    void on_ready(connection& which) override;
    void on_broken(connection& which, base::error const& why) override;
    void on_notification(std::string_view) override {}

    [[nodiscard]] connection* least_busy() noexcept;
    [[nodiscard]] connection* one_that_is_off() noexcept;
    void open_another();
    void cut_idle();

    settings const& to_;
    listener tell_;
    std::vector<std::unique_ptr<connection>> all_;
    std::deque<exchange> waiting_;  ///< for a connection
    std::chrono::milliseconds pause_{0};
    base::instant not_before_{};  ///< for the next try to connect
    base::instant now_{};
};

/// How long to wait between tries: twice as long each time, within bounds.
[[nodiscard]] std::chrono::milliseconds longer_pause(std::chrono::milliseconds last) noexcept;

}  // namespace holdfast::stores::postgres
