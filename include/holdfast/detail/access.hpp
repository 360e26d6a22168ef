// The way of the library's own code to what the public classes hold.
#pragma once

#include <memory>
#include <utility>

namespace holdfast {
inline namespace v1 {

class lease;
class subscription;

namespace detail {

class election_watch;
class hold;

/// A friend of the public classes; no part of the interface. Its functions are for the library, `asio.hpp` and
/// `multi_lock.hpp`.
struct access {
    /// Of a mutex, latch, barrier, condition variable or election.
    template <class Synchronizer>
    [[nodiscard]] static auto handle(Synchronizer const& of) noexcept
        -> decltype(of.shared_handle()) {
        return of.shared_handle();
    }
    /// The readers' side of a shared_mutex.
    template <class SharedMutex>
    [[nodiscard]] static auto readers(SharedMutex const& of) noexcept
        -> decltype(of.shared_side()) {
        return of.shared_side();
    }
    template <class Semaphore>
    [[nodiscard]] static auto pool(Semaphore const& of) noexcept -> decltype(of.pool()) {
        return of.pool();
    }
    /// Of a client or a lease.
    template <class Owner>
    [[nodiscard]] static auto state(Owner const& of) noexcept -> decltype(of.shared_state()) {
        return of.shared_state();
    }

    template <class Lease = lease>
    [[nodiscard]] static Lease make_lease(std::shared_ptr<hold> held) noexcept {
        return Lease{std::move(held)};
    }
    template <class Subscription = subscription>
    [[nodiscard]] static Subscription subscribe(std::unique_ptr<election_watch> watch) noexcept {
        return Subscription{std::move(watch)};
    }
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
