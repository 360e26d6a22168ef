// Waits for any number of descriptors, for a moment, and for being woken.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/epoll.h>
#include <sys/types.h>

#include "base/alarm.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace holdfast::net {

/// One epoll(7) with one timer and one wake-up. Rather than poll(2), since descriptors stay the same for
/// thousands of waits, and each wait is cheaper by a tenth of a round trip.
///
/// Thread-safety: `wait` by one thread at a time; `wake` from any thread. Registrations may begin,
/// change and end on any thread, also while another waits; each by itself is not thread-safe. `wake_by` by
/// one thread at a time, also while another waits.
/// Lifetime: registrations end before their poller. In the child of a fork the epoll is still the
/// parent's: nothing may be called there, and destructors leave it as it is.
class poller {
public:
    /// Says which registration an event is about. The two highest numbers are the poller's own.
    using tag = std::uint64_t;

    struct event {
        tag about{0};
        std::uint32_t kinds{0};  ///< as epoll(7) reports them
    };

    class registration;

    /// Throws std::system_error, as `add` does.
    poller();
    poller(poller const&) = delete;
    poller& operator=(poller const&) = delete;

    /// Watches a descriptor from now on, as long as the result lives. `interest` is as epoll(7) takes it,
    /// EPOLLET and EPOLLONESHOT included.
    [[nodiscard]] registration add(int descriptor, std::uint32_t interest, tag about);

    /// Waits until a descriptor is ready, until `wake`, or until `until` by CLOCK_BOOTTIME or a moment that
    /// `wake_by` was given. May return for no reason, and an event may be about a registration that has
    /// ended meanwhile. What it returns is valid until the next wait.
    ///
    /// `soon`: an answer is due at any moment. Then this looks again and again for a few microseconds before it sleeps: to be
    /// woken takes longer than a near server does. Where answers take longer, as by a network, it learns not to.
    std::span<event const> wait(base::instant until = base::never, bool soon = false);

    /// Ends the present or the next wait. Costs no system call while nobody waits.
    void wake() noexcept;

    /// Whoever woke until now is looked after: the next wait need not end for them.
    void forget_wakes() noexcept { woken_ = false; }

    /// Sees that a wait ends at `when` or earlier. An earlier moment that was given before stays, so that
    /// a moment that moves on with every request costs no system call.
    void wake_by(base::instant when) noexcept;

    /// Readable when a wait would end at once. With it this poller is itself watched by another, and
    /// one thread waits for many. From the first call on, a wake costs its system call always.
    [[nodiscard]] int descriptor() noexcept;

private:
    static constexpr std::size_t most_events = 16;  ///< of one wait; what is left is for the next

    using reports = std::array<epoll_event, most_events>;
    /// What earlier looks without sleeping were worth, so that they stop where they do not pay.
    struct look_history {
        unsigned credit{0};
        unsigned again_in{0};  ///< waits
        unsigned rest{1};      ///< waits, once the credit is used up
    };

    /// Looks without sleeping, as long as that may pay; the number of events.
    [[nodiscard]] int look_ahead(reports& to) noexcept;
    void control(int how, int descriptor, std::uint32_t interest, tag about);

    pid_t const process_;
    base::alarm alarm_;
    base::descriptor epoll_;
    std::array<event, most_events> events_{};  ///< of the last wait
    look_history looks_;
    std::atomic<bool> woken_{false};
    std::atomic<bool> waiting_{false};
    std::atomic<bool> watched_{false};  ///< by another poller
    std::atomic<base::boot_clock::rep> armed_for_{base::never.time_since_epoch().count()};
};

/// A descriptor that a poller watches. Ends before the descriptor is closed: the child of a fork may have a
/// copy of it, which would be reported for ever.
class poller::registration {
public:
    registration() = default;
    registration(registration&& other) noexcept;
    registration& operator=(registration&& other) noexcept;
    ~registration() { end(); }

    /// Changes what is waited for. Throws std::system_error.
    void want(std::uint32_t interest);
    void end() noexcept;

private:
    friend class poller;
    registration(poller& home, int descriptor, std::uint32_t interest, tag about) noexcept
        : home_{&home}, descriptor_{descriptor}, interest_{interest}, about_{about} {}

    poller* home_{nullptr};  ///< nullptr: it has ended
    int descriptor_{-1};
    std::uint32_t interest_{0};
    tag about_{0};
};

}  // namespace holdfast::net
