// The few connections by which all threads of a client send their packets.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stores/mysql/connection.hpp"

namespace holdfast::stores::mysql {

/// Opens the first one when something is to be sent, and others while all are busy. What is sent while there is none
/// waits for the try to connect, and is answered with its failure.
///
/// Thread-safety: none; its owner serialises.
class pool final : connection::owner {
public:
    /// Called when there is no connection any more, and when there is one again.
    struct listener {
        std::function<void(base::error const&)> on_down;
        std::function<void(connection const&)> on_up;
    };

    pool(settings const& to, schema const& tables, net::poller& events, listener who);

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
    void on_free(connection& which) override;
    void on_broken(connection& which, base::error const& why) override;
    void open_another();
    void cut_idle();
    void drop_waiting(base::error const& why);

    listener tell_;
    std::vector<std::unique_ptr<connection>> all_;
    std::deque<exchange> waiting_;
    std::chrono::milliseconds pause_{0};
    base::instant not_before_{};  ///< for the next try to connect
    base::instant now_{};
};

}  // namespace holdfast::stores::mysql
