// How <holdfast/asio.hpp> begins an operation, cancels it, and completes it on the handler's executor.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/system_error.hpp>

#include <holdfast/detail/async.hpp>
#include <holdfast/lease.hpp>

namespace holdfast {
inline namespace v1 {
namespace detail {

/// Where a cancellation and the task that it is for meet, whichever comes first.
///
/// Thread-safety: all members may be called from any thread at once.
class cancellation {
public:
    void ask() {
        std::unique_lock held{mutex_};
        asked_ = true;
        auto const task = task_.lock();
        held.unlock();
        if (task != nullptr) task->cancel();
    }

    void begun(task_ptr const& task) {
        std::unique_lock held{mutex_};
        task_ = task;
        bool const at_once = asked_;
        held.unlock();
        if (at_once && task != nullptr) task->cancel();
    }

private:
    std::mutex mutex_{};
    bool asked_{false};
    std::weak_ptr<async_task> task_{};  ///< none before it has begun, and after its end
};

/// Whether a post only puts something into a queue, as it does in Asio's own contexts. What is behind any other executor
/// may do as it likes.
template <class Executor>
[[nodiscard]] bool only_queues(Executor const& executor) noexcept {
    using of_io = boost::asio::io_context::executor_type;
    using of_pool = boost::asio::thread_pool::executor_type;
    if constexpr (std::is_same_v<Executor, boost::asio::any_io_executor>) {
        return executor.template target<of_io>() != nullptr ||
               executor.template target<of_pool>() != nullptr;
    } else {
        return std::is_same_v<Executor, of_io> || std::is_same_v<Executor, of_pool>;
    }
}

/// Carries a completion from a thread of the client to the handler's executor, which it keeps at work.
template <class Handler>
class asio_completion {
public:
    explicit asio_completion(Handler handler)
        : handler_{std::move(handler)},
          work_{boost::asio::make_work_guard(boost::asio::get_associated_executor(*handler_))} {}

    /// From here on until the handler is called its cancellation slot belongs to this. Called before the
    /// operation begins: afterwards the handler may be gone, and the slot with it.
    [[nodiscard]] std::shared_ptr<cancellation> take_slot() {
        auto slot = boost::asio::get_associated_cancellation_slot(*handler_);
        auto out = std::make_shared<cancellation>();
        has_slot_ = slot.is_connected();
        if (has_slot_) slot.assign([out](boost::asio::cancellation_type) { out->ask(); });
        return out;
    }

    [[nodiscard]] bool only_queues() const noexcept {
        return detail::only_queues(work_.get_executor());
    }

    /// `origin` ends where the handler is called.
    template <class... Results>
    static void complete(std::shared_ptr<asio_completion> self, std::shared_ptr<void> origin,
                         Results... results) {
        auto executor = self->work_.get_executor();
        // The handler may have been called, and its context been ended, before `post` returns.
        auto const at_work = boost::asio::make_work_guard(executor);
        boost::asio::post(executor, [self = std::move(self), origin = std::move(origin),
                                     values = std::make_tuple(std::move(results)...)]() mutable {
            origin.reset();
            self->leave_slot();
            auto handler = std::move(*self->handler_);
            self->handler_.reset();
            self->work_.reset();
            self.reset();
            std::apply([&](auto&... value) { std::move(handler)(std::move(value)...); }, values);
        });
    }

private:
    void leave_slot() {
        if (has_slot_) boost::asio::get_associated_cancellation_slot(*handler_).clear();
    }

    std::optional<Handler> handler_;  ///< nothing once it is called
    boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler>> work_;
    bool has_slot_{false};
};

inline std::exception_ptr cancelled_error() {
    return std::make_exception_ptr(
        boost::system::system_error{boost::asio::error::operation_aborted});
}

/// Starts an operation by `start(handler)`, which returns its task, and has `convert` turn its result
/// into the arguments of the completion handler. Cancellation of any type ends it in
/// boost::asio::error::operation_aborted; what `start` throws is its result.
template <class Result, class Handler, class Start, class Convert>
void start_asio(Handler handler, Start start, Convert convert) {
    auto const self = std::make_shared<asio_completion<Handler>>(std::move(handler));
    auto const stop = self->take_slot();
    async_handler<Result> then = [self, convert](Result got) {
        if (got.cancelled) got.error = cancelled_error();
        convert(self, std::move(got));
    };
    then.anywhere = self->only_queues();
    task_ptr task;
    try {
        task = start(then);
    } catch (...) {  // a coroutine that waits could not catch it: it is suspended already
        Result failed;
        failed.error = std::current_exception();
        return then(std::move(failed));
    }
    stop->begun(task);
}

/// Completes with `void(std::exception_ptr, lease)`.
template <class CompletionToken, class Start>
auto initiate_lease(CompletionToken&& token, Start start) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, lease)>(
        [](auto handler, Start begin) {
            start_asio<lease_result>(std::move(handler), std::move(begin),
                                     [](auto self, lease_result got) {
                                         lease held;
                                         if (got.value) held = std::move(*got.value);
                                         self->complete(std::move(self), std::move(got.origin),
                                                        std::move(got.error), std::move(held));
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
            start_asio<lease_result>(std::move(handler), std::move(begin),
                                     [](auto self, lease_result got) {
                                         self->complete(std::move(self), std::move(got.origin),
                                                        std::move(got.error), std::move(got.value));
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
                    self->complete(std::move(self), std::move(got.origin), std::move(got.error),
                                   Value{pick(got.value)});
                });
        },
        token, std::move(start));
}

/// Completes with `void(std::exception_ptr)`.
template <class CompletionToken, class Start>
auto initiate_plain(CompletionToken&& token, Start start) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr)>(
        [](auto handler, Start begin) {
            start_asio<number_result>(
                std::move(handler), std::move(begin), [](auto self, number_result got) {
                    self->complete(std::move(self), std::move(got.origin), std::move(got.error));
                });
        },
        token, std::move(start));
}

/// Completes with `void(std::exception_ptr, release_outcome)`.
template <class CompletionToken>
auto initiate_release(CompletionToken&& token, lease held) {
    return boost::asio::async_initiate<CompletionToken, void(std::exception_ptr, release_outcome)>(
        [](auto handler, lease what) {
            using completion = asio_completion<decltype(handler)>;
            auto const self = std::make_shared<completion>(std::move(handler));
            release_handler then = [self](release_result got) {
                completion::complete(self, std::move(got.origin), std::move(got.error), got.value);
            };
            then.anywhere = self->only_queues();
            try {
                start_release(std::move(what), then);
            } catch (...) {
                then({.error = std::current_exception(), .value = release_outcome::unknown});
            }
        },
        token, std::move(held));
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
