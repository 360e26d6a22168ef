// What a driver waits for: its sockets, time, and being called.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/epoll.h>

#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace holdfast::stores::redis {

/// A socket to wait for.
struct watched_socket {
    int descriptor{-1};         ///< -1: none
    std::uint32_t interest{0};  ///< as epoll(7) takes it
    std::uint64_t serial{0};    ///< of the socket: its descriptor may have been another's before
    bool ready{false};

    [[nodiscard]] bool is_same(watched_socket const& other) const noexcept {
        return descriptor == other.descriptor && serial == other.serial;
    }
};

/// epoll(7) rather than poll(2): the sockets stay the same for thousands of waits, and each wait is
/// cheaper by a tenth of a round trip.
///
/// Thread-safety: `wait` by one thread at a time; `call` from any thread; `wake_by` under the lock of
/// its owner, also while a thread waits.
class lookout {
public:
    /// Throws std::system_error.
    lookout();

    static constexpr std::size_t most_sockets = 3;

    /// Waits until one of the sockets is ready (told in `ready`), `call`, or a moment that `wake_by`
    /// was given. May return for no reason. Each socket keeps its place from wait to wait.
    void wait(std::span<watched_socket, most_sockets> sockets);

    /// Ends the present or the next wait. Costs no system call while nobody waits.
    void call() noexcept;

    /// Whoever called until now is looked after: the next wait need not end for them.
    void heed() noexcept { called_ = false; }

    /// Sees that a wait ends at `when` by CLOCK_BOOTTIME or earlier. An earlier moment that was given
    /// before stays: so a moment that moves on with every request costs no system call.
    void wake_by(base::instant when) noexcept;

private:
    bool watch(std::size_t place, watched_socket const& wanted) noexcept;
    void begin_anew() noexcept;

    base::descriptor timer_;
    base::descriptor bell_;
    base::descriptor waits_;
    std::array<watched_socket, most_sockets> watched_{};
    std::atomic<bool> called_{false};
    std::atomic<bool> waiting_{false};
    std::atomic<base::boot_clock::rep> armed_for_{base::never.time_since_epoch().count()};
};

}  // namespace holdfast::stores::redis
