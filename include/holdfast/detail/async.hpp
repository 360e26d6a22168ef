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

namespace detail {

// What is behind each synchronizer, and co-owned by the operations on it.
class barrier_handle;
class condition_handle;
class election_handle;
class latch_handle;
class lock_handle;
class permit_pool;

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
    /// What the operation co-owned, perhaps the last of its client. Goes where the result goes: the end of a
    /// client waits for its threads, and must not come on one of them.
    std::shared_ptr<void> origin{};
};

/// A handler is called once, on the client's notifier thread, and should do no more than post the result. One that does
/// nothing else, to an executor that only puts it into a queue, may be called on any thread of the client.
template <class Result>
class async_handler : public std::function<void(Result)> {
public:
    using std::function<void(Result)>::function;

    bool anywhere{false};
};

/// A lease; none for "busy", which only a timeout can end in.
using lease_result = async_result<std::optional<lease>>;
/// A barrier's generation, or what is left of a latch; none when the time was over first.
using number_result = async_result<std::optional<std::uint64_t>>;
using release_result = async_result<release_outcome>;

// A task is null when the operation cannot be cancelled. Without a timeout they wait for ever.
using lease_handler = async_handler<lease_result>;
using number_handler = async_handler<number_result>;
using release_handler = async_handler<release_result>;
using timeout_option = std::optional<std::chrono::nanoseconds>;
using barrier_ptr = std::shared_ptr<barrier_handle>;
using condition_ptr = std::shared_ptr<condition_handle>;
using election_ptr = std::shared_ptr<election_handle>;
using latch_ptr = std::shared_ptr<latch_handle>;
using lock_handle_ptr = std::shared_ptr<lock_handle>;
using permit_pool_ptr = std::shared_ptr<permit_pool>;

HOLDFAST_EXPORT task_ptr start_acquire(lock_handle_ptr const& lock, timeout_option timeout,
                                       lease_handler then);
HOLDFAST_EXPORT task_ptr start_acquire(permit_pool_ptr const& from, std::uint32_t n,
                                       timeout_option timeout, lease_handler then);
HOLDFAST_EXPORT task_ptr start_campaign(election_ptr const& in, std::string_view value,
                                        lease_handler then);
HOLDFAST_EXPORT task_ptr start_acquire_all(std::span<lock_handle_ptr const> locks,
                                           timeout_option timeout, lease_handler then);
HOLDFAST_EXPORT task_ptr start_wait(condition_ptr const& on, lock_handle_ptr const& mutex,
                                    lease held, lease_handler then);
HOLDFAST_EXPORT task_ptr start_notify(condition_ptr const& on, std::uint32_t most,
                                      number_handler then);
HOLDFAST_EXPORT task_ptr start_count_down(latch_ptr const& of, std::uint32_t n,
                                          number_handler then);
HOLDFAST_EXPORT task_ptr start_wait(latch_ptr const& for_it, timeout_option timeout,
                                    number_handler then);
HOLDFAST_EXPORT task_ptr start_arrive(barrier_ptr const& at, timeout_option timeout,
                                      number_handler then);

/// Gives the lease back.
HOLDFAST_EXPORT void start_release(lease held, release_handler then);

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
