// What <holdfast/asio.hpp> rests on: operations whose end comes by callback.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>

namespace holdfast {
inline namespace v1 {

class barrier;
class condition_variable;
class election;
class latch;
class semaphore;

namespace detail {

class lock_handle;

/// One operation under way. Lives until its handler was called, whether or not anybody keeps it.
class HOLDFAST_EXPORT async_task {
public:
    virtual ~async_task();

    /// Ends the wait as soon as possible; the handler is called all the same. Any thread, any time.
    virtual void cancel() = 0;
};
using task_ptr = std::shared_ptr<async_task>;

/// How an operation ended: with an error, cancelled, or with its value.
template <class Value>
struct async_result {
    std::exception_ptr error{};
    bool cancelled{false};
    Value value{};
};

/// A lease; none for "busy".
using lease_result = async_result<std::optional<lease>>;
/// A barrier's generation, or what is left of a latch; none when the time was over first.
using number_result = async_result<std::optional<std::uint64_t>>;

// Handlers are called once, on the client's notifier thread, and should do no more than post the
// result. A task is null when the operation cannot be cancelled. Without a timeout they wait for ever.
using lease_handler = std::function<void(lease_result)>;
using number_handler = std::function<void(number_result)>;
using timeout_option = std::optional<std::chrono::nanoseconds>;
using lock_handle_ptr = std::shared_ptr<lock_handle>;

HOLDFAST_EXPORT task_ptr start_acquire(lock_handle_ptr const& lock, timeout_option timeout,
                                       lease_handler then);
HOLDFAST_EXPORT task_ptr start_acquire(semaphore& from, std::uint32_t n, timeout_option timeout,
                                       lease_handler then);
HOLDFAST_EXPORT task_ptr start_campaign(election& in, std::string_view value, lease_handler then);
HOLDFAST_EXPORT task_ptr start_acquire_all(std::span<lock_handle_ptr const> locks,
                                           timeout_option timeout, lease_handler then);
HOLDFAST_EXPORT task_ptr start_wait(condition_variable& on, lock_handle_ptr const& mutex,
                                    lease held, lease_handler then);
HOLDFAST_EXPORT task_ptr start_notify(condition_variable& on, std::uint32_t most,
                                      number_handler then);
HOLDFAST_EXPORT task_ptr start_count_down(latch& of, std::uint32_t n, number_handler then);
HOLDFAST_EXPORT task_ptr start_wait(latch& for_it, timeout_option timeout, number_handler then);
HOLDFAST_EXPORT task_ptr start_arrive(barrier& at, timeout_option timeout, number_handler then);

/// Gives the lease back.
HOLDFAST_EXPORT void start_release(lease held,
                                   std::function<void(std::exception_ptr, release_outcome)> then);

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
