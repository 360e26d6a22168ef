// One client's way to the servers of a store: requests out, replies and notices back.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "net/poller.hpp"
#include "stores/redis/deliveries.hpp"
#include "stores/redis/early_requests.hpp"
#include "stores/redis/hearing.hpp"
#include "stores/redis/layout.hpp"
#include "stores/redis/log_limit.hpp"
#include "stores/redis/pending_request.hpp"
#include "stores/redis/servers.hpp"

namespace holdfast::stores::redis {

/// Thread-safety: `send`, `lane_of`, `flush` and `interrupt` from any thread at once; the rest by one thread at a time.
/// Nothing is called back while a lock is held.
class link final : servers::owner, hearing::owner, pending_request::owner {
public:
    link(settings wanted, seam::identity const& self, seam::event_sink& sink, log_function log);
    ~link();

    [[nodiscard]] seam::capabilities abilities() const {
        auto out = layout_->abilities();
        out.prompt = true;
        out.lanes = slots_ != nullptr;
        return out;
    }
    [[nodiscard]] seam::lane_id lane_of(std::string_view name) const noexcept;
    [[nodiscard]] std::optional<seam::reply> send(seam::request_id id, seam::request what);
    void drive(base::instant until);
    void flush() noexcept;
    void interrupt() noexcept;
    [[nodiscard]] int descriptor() noexcept { return poller_.descriptor(); }
    void shut() noexcept;
    void abandon() noexcept;

private:
    /// What has to be known of a request besides its commands.
    struct traits {
        explicit traits(seam::request const& of);

        bool is_renewal{false};
        std::chrono::milliseconds answer_within{0};  ///< of a renewal
        bool listens{false};                         ///< relies on messages
        std::optional<seam::cell_key> key{};         ///< that it watches, or no longer does
        bool watches{false};
    };

    // servers::owner
    void on_known(std::string const& remark) override;
    void on_unknown(base::error const& why) override;
    void on_another() override;
    void on_break(node& to, base::error const& why) override;
    void on_confirmed(replication::news what) override;
    // pending_request::owner
    void send(question what) override;
    void on_answered(pending_request& request, seam::clock_id by) override;
    // hearing::owner
    void on_message(std::string_view message) override;
    void on_heard() override;
    void on_restored() override;
    void on_unheard(base::error const& why) override;

    [[nodiscard]] bool keep_early(seam::request_id id, seam::request& what)
        HOLDFAST_EXCLUDES(mutex_);
    [[nodiscard]] std::optional<seam::reply> begin(seam::request_id id, traits const& about,
                                                   std::unique_ptr<exchange> work)
        HOLDFAST_REQUIRES(mutex_);
    pending_request& launch(std::unique_ptr<exchange> what, std::optional<seam::request_id> id)
        HOLDFAST_REQUIRES(mutex_);
    void advance(pending_request& request) HOLDFAST_REQUIRES(mutex_);
    void write_or_leave(node* to, std::size_t before) HOLDFAST_REQUIRES(mutex_);
    void complete(pending_request& request) HOLDFAST_REQUIRES(mutex_);
    void pass_on(seam::request_id id, seam::reply reply, std::chrono::milliseconds answer_within)
        HOLDFAST_REQUIRES(mutex_);
    void on_carried_out(seam::clock_id by) HOLDFAST_REQUIRES(mutex_);
    void tell(seam::notice what) HOLDFAST_REQUIRES(mutex_);
    void tend() HOLDFAST_REQUIRES(mutex_);
    void watch_again() HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] base::instant next_due() const noexcept HOLDFAST_REQUIRES(mutex_);
    void drive_locked(base::instant until) HOLDFAST_REQUIRES(mutex_);
    void take(std::span<net::poller::event const> events) HOLDFAST_REQUIRES(mutex_);
    bool deliver() HOLDFAST_REQUIRES(mutex_);
    void say(log_level level, std::string words) HOLDFAST_REQUIRES(mutex_) {
        deliveries_.add(level, std::move(words));
    }
    bool warn(log_limit& kind, std::string words) HOLDFAST_REQUIRES(mutex_);

    std::shared_ptr<settings const> settings_;
    seam::event_sink& sink_;
    log_function log_;
    std::shared_ptr<slot_map> slots_;  ///< of a cluster
    std::unique_ptr<layout> layout_;
    net::poller poller_;
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> abandoned_{false};
    std::atomic<bool> known_;      ///< where the servers are
    std::atomic<int> senders_{0};  ///< want the lock

    base::mutex mutex_;
    bool shut_ HOLDFAST_GUARDED_BY(mutex_){false};
    bool driven_ HOLDFAST_GUARDED_BY(mutex_){
        false};  ///< somebody is in `drive`, who writes what others leave
    bool down_ HOLDFAST_GUARDED_BY(mutex_){false};  ///< some server is, as the log says
    base::instant now_ HOLDFAST_GUARDED_BY(mutex_){};
    servers servers_ HOLDFAST_GUARDED_BY(mutex_);
    hearing hearing_ HOLDFAST_GUARDED_BY(mutex_);
    early_requests early_ HOLDFAST_GUARDED_BY(mutex_);
    boost::intrusive::list<pending_request> pending_ HOLDFAST_GUARDED_BY(mutex_);
    std::set<seam::cell_key> watched_ HOLDFAST_GUARDED_BY(mutex_);
    base::instant watch_again_at_ HOLDFAST_GUARDED_BY(mutex_){base::never};
    deliveries deliveries_ HOLDFAST_GUARDED_BY(mutex_);
    log_limit about_servers_ HOLDFAST_GUARDED_BY(mutex_);
    log_limit about_guides_ HOLDFAST_GUARDED_BY(mutex_);
    log_limit about_messages_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::stores::redis
