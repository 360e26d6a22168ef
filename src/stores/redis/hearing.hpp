// What a client hears unasked: the messages of its servers, and which requests relied on them before any could arrive.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stores/redis/servers.hpp"
#include "stores/redis/subscription.hpp"

namespace holdfast::stores::redis {

/// Listens from the first request on that relies on messages, at a server that
/// is there. Never, for a layout without messages.
///
/// Thread-safety: none; its owner serialises.
class hearing final : subscription::listener {
public:
    class owner {
    public:
        virtual void on_message(std::string_view message) = 0;
        /// Messages arrive from here on.
        virtual void on_heard() = 0;
        /// Who waits may have missed some; told once for all requests that were deaf together, when they are answered.
        virtual void on_restored() = 0;
        virtual void on_unheard(base::error const& why) = 0;

    protected:
        ~owner() = default;
    };

    /// `channel`: empty for a layout without messages.
    hearing(std::shared_ptr<settings const> of, std::string name, std::string channel, owner& to,
            net::poller& events, net::poller::tag about);

    /// Whether there are messages at all.
    [[nodiscard]] bool is_possible() const noexcept { return messages_.has_value(); }

    /// Somebody relies on messages. True when the request is deaf: none can arrive yet, and from now on we listen.
    [[nodiscard]] bool begin_to_rely();
    /// A deaf request was answered. `waits`: for messages.
    void on_answered(bool waits);

    /// Any server tells what any other has published: it is heard where it is heard. `known`: where the servers are.
    void tend(servers& all, bool known, base::instant now);
    [[nodiscard]] base::instant next_due() const noexcept;

    /// Another connection turned out to be dead; see subscription::probe.
    void probe(std::chrono::milliseconds answer_within, base::instant now);
    void on_ready(base::instant now);
    [[nodiscard]] bool has_more() const noexcept;

    void cut(base::error const& why, base::instant now);
    void abandon() noexcept;

private:
    // subscription::listener
    void on_message(std::string_view message) override { owner_.on_message(message); }
    void on_subscribed() override;
    void on_unsubscribed(base::error const& why) override { owner_.on_unheard(why); }

    [[nodiscard]] bool is_found() const noexcept { return of_->kind != deployment::one_server; }
    void say_restored();

    std::shared_ptr<settings const> of_;
    owner& owner_;
    std::optional<subscription> messages_;
    base::instant led_at_{};    ///< when it was last led to a server
    bool heard_before_{false};  ///< messages have arrived once
    bool missed_{false};        ///< messages may have been missed by those who wait for them
    std::size_t deaf_{0};       ///< how many deaf requests are under way
};

}  // namespace holdfast::stores::redis
