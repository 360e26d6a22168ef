// A driver whose sockets are watched by a poller of ours: how it is driven, woken and ended.
#pragma once

#include <atomic>
#include <functional>
#include <span>

#include "base/mutex.hpp"
#include "net/poller.hpp"
#include "stores/compare/outbox.hpp"

namespace holdfast::stores::compare {

/// A driver of this kind says what time and sockets bring, and when the next thing is due. Its calls take the lock, ask
/// `enter`, and end with `settle`.
///
/// Thread-safety: as that of `driver`. The lock is held whenever one of the private functions below is called, and by all who
/// use what is protected; it is never held while events are told.
class polled_driver : public driver {
public:
    void drive(base::instant until) final;
    void interrupt() noexcept final;
    void wake_by(base::instant when) noexcept final;
    void shut() noexcept final;
    [[nodiscard]] int descriptor() noexcept final { return poller_.descriptor(); }
    void abandon_in_child() noexcept final;

protected:
    polled_driver(driver_events& events, log_function log)
        : events_{events}, log_{std::move(log)} {}

    /// False when it was shut: the call is answered then.
    [[nodiscard]] bool enter(ticket which) HOLDFAST_REQUIRES(mutex_);
    /// The same for a call without an outcome.
    [[nodiscard]] bool enter() HOLDFAST_REQUIRES(mutex_);
    /// After a call: what it has sent may have to be followed up, by whoever drives.
    void settle() HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] bool is_shut() const noexcept HOLDFAST_REQUIRES(mutex_) { return shut_; }
    /// In the child of a fork, where nothing may be touched.
    [[nodiscard]] bool is_abandoned() const noexcept { return abandoned_; }
    /// For `wind_up`: takes what comes in until that is so. -> false when it was not so in time
    bool take_until(std::function<bool()> const& met, base::instant end) HOLDFAST_REQUIRES(mutex_);

    base::mutex mutex_;  ///< guards what drivers add, too
    net::poller poller_;
    base::instant now_ HOLDFAST_GUARDED_BY(mutex_){};  ///< of what is being done
    outbox out_ HOLDFAST_GUARDED_BY(mutex_);

private:
    /// What time brings.
    virtual void tend() HOLDFAST_REQUIRES(mutex_) = 0;
    /// What the poller has seen.
    virtual void take(std::span<net::poller::event const> events) HOLDFAST_REQUIRES(mutex_) = 0;
    [[nodiscard]] virtual base::instant next_due() const noexcept HOLDFAST_REQUIRES(mutex_) = 0;
    /// The last moment at which connections can be used, when all that anybody wanted is over. Bounded in time; nobody is
    /// told what comes of it.
    virtual void wind_up() HOLDFAST_REQUIRES(mutex_) {}
    /// Ends all connections; nobody hears how the calls under way ended.
    virtual void cut() noexcept HOLDFAST_REQUIRES(mutex_) = 0;
    /// Lets go of the sockets without a word to the server.
    virtual void abandon() noexcept HOLDFAST_REQUIRES(mutex_) = 0;

    void drive_locked(base::instant until) HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] bool deliver() HOLDFAST_REQUIRES(mutex_);

    driver_events& events_;
    log_function const log_;
    bool shut_ HOLDFAST_GUARDED_BY(mutex_){false};
    std::atomic<bool> interrupted_{false};
    std::atomic<bool> abandoned_{false};
};

}  // namespace holdfast::stores::compare
