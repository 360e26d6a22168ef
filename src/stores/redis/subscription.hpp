// The connection on which this client is told things.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stores/redis/connection.hpp"

namespace holdfast::stores::redis {

/// Subscribes to one channel and stays subscribed, from `start` on. A server that has fallen silent
/// is noticed by a ping.
///
/// Thread-safety: none; its owner serialises.
class subscription final : connection::watcher {
public:
    class listener {
    public:
        virtual void on_message(std::string_view message) = 0;
        /// Messages arrive from here on; earlier ones may have been missed.
        virtual void on_subscribed() = 0;
        virtual void on_unsubscribed(base::error const& why) = 0;

    protected:
        ~listener() = default;
    };

    subscription(std::shared_ptr<settings const> to, std::string name, std::string channel,
                 listener& of, net::poller& events, net::poller::tag about, std::uint64_t seed);

    void start() noexcept {
        started_ = true;
        line_.keep();
    }
    [[nodiscard]] bool is_started() const noexcept { return started_; }

    /// From now on this server is to tell. Not from inside of what it calls.
    void lead_to(std::shared_ptr<settings const> to, base::instant now);

    /// Another connection to the server turned out to be dead. This one may be too, and shows within
    /// `answer_within` that it is not, or is made again.
    void probe(std::chrono::milliseconds answer_within, base::instant now);

    void tend(base::instant now);
    [[nodiscard]] base::instant next_due() const noexcept;
    void flush(base::instant now) { line_.flush(now); }
    void on_ready(base::instant now) {
        now_ = now;
        line_.on_ready(now);
    }
    [[nodiscard]] connection& line() noexcept { return line_; }
    [[nodiscard]] connection const& line() const noexcept { return line_; }
    [[nodiscard]] bool is_heard() const noexcept { return heard_; }

private:
    void on_open() override;
    void on_push(answer const& what) override;
    void on_break(base::error const& why) override;

    std::shared_ptr<settings const> to_;
    std::string channel_;
    listener& listener_;
    bool started_{false};
    bool heard_{false};  ///< the server has confirmed the subscription
    base::instant now_{};
    base::instant answer_by_{base::never};  ///< to the subscription, or to a ping
    base::instant ping_at_{base::never};
    connection line_;
};

}  // namespace holdfast::stores::redis
