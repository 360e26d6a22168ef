// The Asio forms: acquire and release with any completion token, use_awaitable included.
//
// Needs Boost.Asio 1.81 or later; no other header of holdfast does.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/detail/async.hpp>
#include <holdfast/detail/timeout.hpp>
#include <holdfast/holdfast.hpp>

namespace holdfast {
inline namespace v1 {
namespace detail {

/// Carries a completion from the notifier thread to the handler's executor, which it keeps at work.
template <class Handler>
class asio_completion {
public:
    explicit asio_completion(Handler handler)
        : handler_{std::move(handler)},
          work_{boost::asio::make_work_guard(boost::asio::get_associated_executor(*handler_))} {}

    [[nodiscard]] auto slot() const {
        return boost::asio::get_associated_cancellation_slot(*handler_);
    }

    template <class... Results>
    static void complete(std::shared_ptr<asio_completion> self, Results... results) {
        auto executor = self->work_.get_executor();
        // The handler may have been called, and its context been ended, before `post` returns.
        auto const at_work = boost::asio::make_work_guard(executor);
        boost::asio::post(executor, [self = std::move(self),
                                     values = std::make_tuple(std::move(results)...)]() mutable {
            auto handler = std::move(*self->handler_);
            self->handler_.reset();
            self->work_.reset();
            self.reset();
            std::apply([&](auto&... value) { std::move(handler)(std::move(value)...); }, values);
        });
    }

private:
    std::optional<Handler> handler_;  ///< nothing once it is called
    boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler>> work_;
};

inline std::exception_ptr cancelled_error() {
    return std::make_exception_ptr(
        boost::system::system_error{boost::asio::error::operation_aborted});
}

/// Starts an operation by `start(handler)`, which returns its task, and has `convert` turn its result
/// into the arguments of the completion handler. Cancellation of any type ends it in
/// boost::asio::error::operation_aborted.
template <class Result, class Handler, class Start, class Convert>
void start_asio(Handler handler, Start start, Convert convert) {
    using completion = asio_completion<Handler>;
    auto self = std::make_shared<completion>(std::move(handler));
    auto slot = self->slot();
    std::function<void(Result)> then = [self, convert](Result got) {
        if (got.cancelled) got.error = cancelled_error();
        convert(self, std::move(got));
    };
    auto const running = start(std::move(then));
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr{running}](boost::asio::cancellation_type) {
            if (auto const it = weak.lock()) it->cancel();
        });
    }
}

/// Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken, class Start>
auto initiate_lease(CompletionToken&& token, Start start) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, lease)>(
        [](auto handler, Start begin) {
            start_asio<lease_result>(
                std::move(handler), std::move(begin), [](auto self, lease_result got) {
                    lease held;
                    if (got.value) held = std::move(*got.value);
                    self->complete(std::move(self), std::move(got.error), std::move(held));
                });
        },
        token, std::move(start));
}

/// Completes with `void(std::exception_ptr, std::optional<lease>)`.
template <class CompletionToken, class Start>
auto initiate_try(CompletionToken&& token, Start start) {
    return boost::asio::async_initiate<CompletionToken,
                                       void(std::exception_ptr, std::optional<lease>)>(
        [](auto handler, Start begin) {
            start_asio<lease_result>(
                std::move(handler), std::move(begin), [](auto self, lease_result got) {
                    self->complete(std::move(self), std::move(got.error), std::move(got.value));
                });
        },
        token, std::move(start));
}

/// Completes with `void(std::exception_ptr, Value)`, where `pick` makes the value of the number.
template <class Value, class CompletionToken, class Start, class Pick>
auto initiate_number(CompletionToken&& token, Start start, Pick pick) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, Value)>(
        [pick](auto handler, Start begin) {
            start_asio<number_result>(
                std::move(handler), std::move(begin), [pick](auto self, number_result got) {
                    self->complete(std::move(self), std::move(got.error), Value{pick(got.value)});
                });
        },
        token, std::move(start));
}

/// Completes with `void(std::exception_ptr)`.
template <class CompletionToken, class Start>
auto initiate_plain(CompletionToken&& token, Start start) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr)>(
        [](auto handler, Start begin) {
            start_asio<number_result>(std::move(handler), std::move(begin),
                                      [](auto self, number_result got) {
                                          self->complete(std::move(self), std::move(got.error));
                                      });
        },
        token, std::move(start));
}

}  // namespace detail

// For all of them: completion on the token's associated executor; errors as those of the blocking
// form. Cancellation: all types; ends in boost::asio::error::operation_aborted, and nothing stays
// behind. Lifetime: what is passed by reference must live until the function returns. A
// `recursive_mutex` needs `lock_options::owner`, since a coroutine is not a thread; else `bad_option`.

/// Acquires without blocking a thread: the exclusive side of any mutex.
/// Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_acquire(basic_mutex& mutex, CompletionToken&& token) {
    return detail::initiate_lease(
        token, [lock = mutex.shared_handle()](detail::lease_handler then) {
            return detail::start_acquire(lock, std::nullopt, std::move(then));
        });
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`;
/// nothing after an answered "busy".
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_for(basic_mutex& mutex, std::chrono::duration<Rep, Period> const& timeout,
                           CompletionToken&& token) {
    return detail::initiate_try(token,
                                [lock = mutex.shared_handle(),
                                 limit = detail::to_timeout(timeout)](detail::lease_handler then) {
                                    return detail::start_acquire(lock, limit, std::move(then));
                                });
}

/// The shared side. Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_acquire_shared(shared_mutex& mutex, CompletionToken&& token) {
    return detail::initiate_lease(token, [lock = mutex.shared_side()](detail::lease_handler then) {
        return detail::start_acquire(lock, std::nullopt, std::move(then));
    });
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`.
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_shared_for(shared_mutex& mutex,
                                  std::chrono::duration<Rep, Period> const& timeout,
                                  CompletionToken&& token) {
    return detail::initiate_try(token,
                                [lock = mutex.shared_side(),
                                 limit = detail::to_timeout(timeout)](detail::lease_handler then) {
                                    return detail::start_acquire(lock, limit, std::move(then));
                                });
}

/// n permits of a semaphore. Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_acquire(semaphore& from, std::uint32_t n, CompletionToken&& token) {
    return detail::initiate_lease(token, [&from, n](detail::lease_handler then) {
        return detail::start_acquire(from, n, std::nullopt, std::move(then));
    });
}

/// One permit.
template <class CompletionToken>
auto async_acquire(semaphore& from, CompletionToken&& token) {
    return async_acquire(from, 1, std::forward<CompletionToken>(token));
}

/// n permits for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`.
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_for(semaphore& from, std::chrono::duration<Rep, Period> const& timeout,
                           std::uint32_t n, CompletionToken&& token) {
    return detail::initiate_try(
        token, [&from, n, limit = detail::to_timeout(timeout)](detail::lease_handler then) {
            return detail::start_acquire(from, n, limit, std::move(then));
        });
}

/// Stands for election. Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken>
auto async_campaign(election& in, std::string value, CompletionToken&& token) {
    return detail::initiate_lease(token,
                                  [&in, value = std::move(value)](detail::lease_handler then) {
                                      return detail::start_campaign(in, value, std::move(then));
                                  });
}

/// All of the locks or none; see `lock_all`. The locks come as `std::tie(a, b)`.
/// Completes with `void(std::exception_ptr, lease)`.
template <class... Locks, class CompletionToken>
auto async_lock_all(std::tuple<Locks&...> locks, CompletionToken&& token) {
    return detail::initiate_lease(
        token, [all = std::apply([](auto&... one) { return detail::handles_of(one...); }, locks)](
                   detail::lease_handler then) {
            return detail::start_acquire_all(all, std::nullopt, std::move(then));
        });
}

/// Counts down by n. Completes with `void(std::exception_ptr)`.
template <class CompletionToken>
auto async_count_down(latch& of, std::uint32_t n, CompletionToken&& token) {
    return detail::initiate_plain(token, [&of, n](detail::number_handler then) {
        return detail::start_count_down(of, n, std::move(then));
    });
}

/// Waits until nothing is left. Completes with `void(std::exception_ptr)`.
template <class CompletionToken>
auto async_wait(latch& for_it, CompletionToken&& token) {
    return detail::initiate_plain(token, [&for_it](detail::number_handler then) {
        return detail::start_wait(for_it, std::nullopt, std::move(then));
    });
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, bool)`.
template <class Rep, class Period, class CompletionToken>
auto async_wait_for(latch& for_it, std::chrono::duration<Rep, Period> const& timeout,
                    CompletionToken&& token) {
    return detail::initiate_number<bool>(
        token,
        [&for_it, limit = detail::to_timeout(timeout)](detail::number_handler then) {
            return detail::start_wait(for_it, limit, std::move(then));
        },
        [](auto const& number) { return number.has_value(); });
}

/// Arrives and waits for the others. Completes with `void(std::exception_ptr, std::uint64_t)`, the
/// generation. Cancelling breaks the barrier for the others, unless it trips first.
template <class CompletionToken>
auto async_arrive_and_wait(barrier& at, CompletionToken&& token) {
    return detail::initiate_number<std::uint64_t>(
        token,
        [&at](detail::number_handler then) {
            return detail::start_arrive(at, std::nullopt, std::move(then));
        },
        [](auto const& number) { return number.value_or(0); });
}

/// Waits for a notice: `held` is the lease of `with`, which is released while it waits; completes with
/// the new lease, `void(std::exception_ptr, lease)`. After an error the mutex is not held. All three
/// belong to one client.
template <class CompletionToken>
auto async_wait(condition_variable& on, basic_mutex& with, lease held, CompletionToken&& token) {
    // A shared pointer, since a completion token may copy what begins the operation.
    auto const kept = std::make_shared<lease>(std::move(held));
    return detail::initiate_lease(
        token, [&on, lock = with.shared_handle(), kept](detail::lease_handler then) {
            return detail::start_wait(on, lock, std::move(*kept), std::move(then));
        });
}

/// Wakes one, or all. Complete with `void(std::exception_ptr)` when the store has done so.
template <class CompletionToken>
auto async_notify_one(condition_variable& on, CompletionToken&& token) {
    return detail::initiate_plain(token, [&on](detail::number_handler then) {
        return detail::start_notify(on, 1, std::move(then));
    });
}
template <class CompletionToken>
auto async_notify_all(condition_variable& on, CompletionToken&& token) {
    return detail::initiate_plain(token, [&on](detail::number_handler then) {
        return detail::start_notify(on, UINT32_MAX, std::move(then));
    });
}

/// Gives the lease back and completes with `void(std::exception_ptr, release_outcome)`. Cannot be
/// cancelled: the release is under way when this returns.
template <class CompletionToken>
auto async_release(lease held, CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, release_outcome)>(
        [](auto handler, lease what) {
            using completion = detail::asio_completion<decltype(handler)>;
            auto self = std::make_shared<completion>(std::move(handler));
            detail::start_release(std::move(what),
                                  [self](std::exception_ptr error, release_outcome outcome) {
                                      completion::complete(self, std::move(error), outcome);
                                  });
        },
        token, std::move(held));
}

}  // namespace v1
}  // namespace holdfast
