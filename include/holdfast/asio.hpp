// The Asio forms: acquire and release with any completion token, use_awaitable included.
//
// Needs Boost.Asio 1.81 or later; no other header of holdfast does.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
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
#include <holdfast/mutex.hpp>

namespace holdfast {
inline namespace v1 {
namespace detail {

/// Carries a completion from the notifier thread to the handler's executor, which it keeps at work.
template <class Handler>
class asio_completion {
public:
    explicit asio_completion(Handler handler)
        : handler_{std::move(handler)},
          work_{boost::asio::make_work_guard(boost::asio::get_associated_executor(handler_))} {}

    [[nodiscard]] auto slot() const {
        return boost::asio::get_associated_cancellation_slot(handler_);
    }

    template <class... Results>
    static void complete(std::shared_ptr<asio_completion> self, Results... results) {
        auto executor = self->work_.get_executor();
        boost::asio::post(executor, [self = std::move(self),
                                     values = std::make_tuple(std::move(results)...)]() mutable {
            auto handler = std::move(self->handler_);
            self->work_.reset();
            self.reset();
            std::apply([&](auto&... value) { std::move(handler)(std::move(value)...); }, values);
        });
    }

private:
    Handler handler_;
    boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler>> work_;
};

inline std::exception_ptr cancelled_error() {
    return std::make_exception_ptr(
        boost::system::system_error{boost::asio::error::operation_aborted});
}

/// Starts an acquire and has `convert` turn its result into the arguments of the handler.
template <class Handler, class Convert>
void start_asio_acquire(Handler handler, basic_mutex& mutex,
                        std::optional<std::chrono::nanoseconds> timeout, Convert convert) {
    using completion = asio_completion<Handler>;
    auto self = std::make_shared<completion>(std::move(handler));
    auto slot = self->slot();
    auto const running =
        async_acquire::start(mutex, timeout, [self, convert](async_acquire::result got) {
            if (got.cancelled) got.error = cancelled_error();
            convert(self, std::move(got));
        });
    if (slot.is_connected()) {
        slot.assign([weak = std::weak_ptr{running}](boost::asio::cancellation_type) {
            if (auto const it = weak.lock()) it->cancel();
        });
    }
}

}  // namespace detail

/// Acquires without blocking a thread. Completes with `void(std::exception_ptr, lease)`, on the
/// token's associated executor. Errors are those of `basic_mutex::acquire`.
/// Cancellation: all types; ends in boost::asio::error::operation_aborted, and nothing stays behind.
/// Lifetime: the mutex must live until this function returns. A `recursive_mutex` needs
/// `lock_options::owner`, since a coroutine is not a thread; else `bad_option`.
template <class CompletionToken>
auto async_acquire(basic_mutex& mutex, CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, lease)>(
        [](auto handler, basic_mutex* which) {
            detail::start_asio_acquire(std::move(handler), *which, std::nullopt,
                                       [](auto self, detail::async_acquire::result got) {
                                           lease held;
                                           if (got.held) held = std::move(*got.held);
                                           self->complete(std::move(self), std::move(got.error),
                                                          std::move(held));
                                       });
        },
        token, &mutex);
}

/// The same for at most `timeout`. Completes with `void(std::exception_ptr, std::optional<lease>)`;
/// nothing after an answered "busy".
template <class Rep, class Period, class CompletionToken>
auto async_try_acquire_for(basic_mutex& mutex, std::chrono::duration<Rep, Period> const& timeout,
                           CompletionToken&& token) {
    return boost::asio::async_initiate<CompletionToken,
                                       void(std::exception_ptr, std::optional<lease>)>(
        [](auto handler, basic_mutex* which, std::chrono::nanoseconds limit) {
            detail::start_asio_acquire(std::move(handler), *which, limit,
                                       [](auto self, detail::async_acquire::result got) {
                                           self->complete(std::move(self), std::move(got.error),
                                                          std::move(got.held));
                                       });
        },
        token, &mutex, detail::to_timeout(timeout));
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
