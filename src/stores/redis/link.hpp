// One client's way to one server: requests out, replies and notices back.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "net/poller.hpp"
#include "stores/redis/connections.hpp"
#include "stores/redis/deliveries.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/log_limit.hpp"
#include "stores/redis/pending_request.hpp"

namespace holdfast::stores::redis {

/// Thread-safety: `send` and `interrupt` from any thread at once; the rest by one thread at a time.
/// Nothing is called back while a lock is held.
class link final : connection::watcher, subscription::listener, pending_request::owner {
public:
    link(settings wanted, seam::identity const& self, seam::event_sink& sink, log_function log);
    ~link();

    [[nodiscard]] seam::capabilities abilities() const {
        auto out = layout_->abilities();
        out.prompt = true;
        return out;
    }
    [[nodiscard]] std::optional<seam::reply> send(seam::request_id id, seam::request what);
    void drive(base::instant until);
    void interrupt() noexcept;
    [[nodiscard]] int descriptor() noexcept { return poller_.descriptor(); }
    void shut() noexcept;
    void abandon() noexcept;

private:
    using guard = std::unique_lock<std::mutex>;

    // connection::watcher
    void on_open() override {}
    void on_push(answer const& what) override;
    void on_break(base::error const& why) override;
    // pending_request::owner
    void on_answered(pending_request& request, bool carried_out) override;
    // subscription::listener
    void on_message(std::string_view message) override;
    void on_subscribed() override;
    void on_unsubscribed(base::error const& why) override;

    pending_request& launch(std::unique_ptr<exchange> what, std::optional<seam::request_id> id);
    void listen(pending_request& request);
    void advance(pending_request& request);
    void write_or_leave(std::size_t before);
    void complete(pending_request& request);
    void on_carried_out();
    void say_restored();
    void tell(seam::notice what);
    void pass_on(replication::news confirmed);
    void tend();
    void watch_again();
    [[nodiscard]] base::instant next_due() const noexcept;
    void drive(guard& held, base::instant until);
    void give_way() const noexcept;
    bool deliver(guard& held);
    void say(log_level level, std::string words) { deliveries_.add(level, std::move(words)); }
    bool warn(log_limit& kind, std::string words);

    std::shared_ptr<settings const> settings_;
    seam::event_sink& sink_;
    log_function log_;
    std::unique_ptr<layout> layout_;
    net::poller poller_;
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> abandoned_{false};
    std::atomic<int> senders_{0};  ///< want the lock

    std::mutex mutex_;  ///< guards what follows
    bool shut_{false};
    bool driven_{false};        ///< somebody is in `drive`, who writes what others leave
    bool down_{false};          ///< said in the log, and no answer came since
    bool heard_before_{false};  ///< messages have arrived once
    bool missed_{false};        ///< messages may have been missed by those who wait for them
    std::size_t deaf_{0};       ///< how many deaf requests are under way
    base::instant now_{};
    connections connections_;
    boost::intrusive::list<pending_request> pending_;
    std::set<seam::cell_key> watched_;
    base::instant watch_again_at_{base::never};
    deliveries deliveries_;
    log_limit about_connection_;
    log_limit about_messages_;
};

}  // namespace holdfast::stores::redis
