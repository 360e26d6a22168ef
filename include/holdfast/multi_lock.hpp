// lock_all: several locks at once, all or none.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include <holdfast/detail/access.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/shared_mutex.hpp>

namespace holdfast {
inline namespace v1 {

/// The shared side of a `shared_mutex`, for `lock_all`. Refers to it.
class shared_claim {
public:
    explicit shared_claim(shared_mutex& of) noexcept : of_{of} {}

private:
    friend struct detail::access;
    [[nodiscard]] std::shared_ptr<detail::lock_handle> const& shared_handle() const noexcept {
        return detail::access::readers(of_);
    }

    shared_mutex& of_;
};

/// Marks a shared claim: `lock_all(a, shared(b))`.
[[nodiscard]] inline shared_claim shared(shared_mutex& of) noexcept { return shared_claim{of}; }

namespace detail {

using handle_span = std::span<std::shared_ptr<lock_handle> const>;

/// Waits for at most `timeout`; nanoseconds::max() for ever.
HOLDFAST_EXPORT std::optional<lease> lock_all(handle_span handles, std::chrono::nanoseconds timeout,
                                              std::stop_token const& stop);

template <class Lock>
concept part_of_all = requires(Lock const& lock) {
    { access::handle(lock) } -> std::convertible_to<std::shared_ptr<lock_handle> const&>;
};

template <part_of_all... Locks>
[[nodiscard]] std::array<std::shared_ptr<lock_handle>, sizeof...(Locks)> handles_of(
    Locks const&... locks) {
    static_assert(sizeof...(Locks) > 0, "lock_all needs at least one lock");
    return {access::handle(locks)...};
}

}  // namespace detail

/// Holds all of the locks or none: mutexes, recursive mutexes, either side of shared mutexes, all of
/// one client. It waits on one name while it holds none, then tries all the others at once; it never
/// waits for one while it holds another, so it cannot be part of a deadlock.
///
/// One lease holds them together: it is lost as soon as one of them is, `token(name)` is the token of
/// one of them, `token()` and `name()` are those of the first.
///
/// Throws what `basic_mutex::acquire` throws; `would_deadlock` when a name is given twice, `bad_option`
/// for locks of different clients.
template <detail::part_of_all... Locks>
[[nodiscard]] lease lock_all(Locks&&... locks) {
    auto const handles = detail::handles_of(locks...);
    return std::move(*detail::lock_all(handles, std::chrono::nanoseconds::max(), {}));
}

/// The same for at most `timeout`: nothing when they could not be had together by then.
template <class Rep, class Period, detail::part_of_all... Locks>
[[nodiscard]] std::optional<lease> try_lock_all_for(
    std::chrono::duration<Rep, Period> const& timeout, Locks&&... locks) {
    auto const handles = detail::handles_of(locks...);
    return detail::lock_all(handles, detail::to_timeout(timeout), {});
}

/// `lock_all` that a stop request ends: nothing then.
template <detail::part_of_all... Locks>
[[nodiscard]] std::optional<lease> lock_all(std::stop_token stop, Locks&&... locks) {
    auto const handles = detail::handles_of(locks...);
    return detail::lock_all(handles, std::chrono::nanoseconds::max(), stop);
}

}  // namespace v1
}  // namespace holdfast
