// One client's way to one server: requests out, replies and notices back.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "stores/redis/connection.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/log_limit.hpp"
#include "stores/redis/lookout.hpp"
#include "stores/redis/replication.hpp"
#include "stores/redis/subscription.hpp"

namespace holdfast::stores::redis {

/// Thread-safety: `send` and `interrupt` from any thread at once; the rest by one thread at a time.
/// Nothing is called back while a lock is held.
class link final : connection::watcher, subscription::listener {
public:
    using log_function = std::function<void(log_level, std::string)>;

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
    void shut() noexcept;
    void abandon() noexcept;

private:
    /// One request under way.
    struct pending final : asker, boost::intrusive::list_base_hook<> {
        pending(link& of, std::unique_ptr<exchange> what, std::optional<seam::request_id> as)
            : home{of}, its{std::move(what)}, id{as} {}

        void on_answer(std::size_t which, answer const& what) override;
        void on_failure(std::size_t which, base::error const& why) override;
        void on_cut(std::size_t which, base::error const& why) override;

        link& home;
        std::unique_ptr<exchange> its;
        std::optional<seam::request_id> id;  ///< nothing when nobody waits for the reply
        bool deaf{false};  ///< relies on messages, and was sent before any could arrive
        std::size_t sent{0};
        std::size_t unanswered{0};
        std::chrono::milliseconds answer_within{0};  ///< of a renewal
    };
    using pending_list = boost::intrusive::list<pending>;
    using guard = std::unique_lock<std::mutex>;

    // connection::watcher
    void on_open() override {}
    void on_push(answer const& what) override;
    void on_break(base::error const& why) override;
    // subscription::listener
    void on_message(std::string_view message) override;
    void on_subscribed() override;
    void on_unsubscribed(base::error const& why) override;

    pending& launch(std::unique_ptr<exchange> what, std::optional<seam::request_id> id);
    void listen(pending& request);
    void advance(pending& request);
    void cut_if_dead(std::chrono::milliseconds answer_within);
    void write_or_leave(std::size_t before);
    void complete(pending const& request);
    void on_carried_out();
    void say_restored();
    void tell(seam::notice what);
    void tend(base::instant now);
    void watch_again();
    [[nodiscard]] base::instant next_due() const noexcept;
    void drive(guard& held, base::instant until);
    [[nodiscard]] bool has_more() const noexcept;
    void give_way() const noexcept;
    bool deliver(guard& held);
    void say(log_level level, std::string words) { words_.emplace_back(level, std::move(words)); }
    bool warn(log_limit& kind, std::string words);

    std::shared_ptr<settings const> settings_;
    seam::event_sink& sink_;
    log_function log_;
    std::unique_ptr<layout> layout_;
    lookout lookout_;
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
    connection commands_;
    std::optional<subscription> messages_;   ///< nothing for a layout without messages
    std::optional<replication> replicated_;  ///< nothing when no replica has to confirm
    pending_list flights_;
    std::set<seam::cell_key> watched_;
    base::instant watch_again_at_{base::never};
    std::vector<std::pair<seam::request_id, seam::reply>> replies_;
    std::vector<seam::notice> notices_;
    std::vector<std::pair<log_level, std::string>> words_;
    log_limit about_connection_;
    log_limit about_messages_;
};

}  // namespace holdfast::stores::redis
