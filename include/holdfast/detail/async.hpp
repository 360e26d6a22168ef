// What <holdfast/asio.hpp> rests on: acquires and releases whose end comes by callback.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>

namespace holdfast {
inline namespace v1 {

class basic_mutex;

namespace detail {

/// One acquire under way. Lives until its handler was called, whether or not anybody keeps it.
class HOLDFAST_EXPORT async_acquire {
public:
    /// How it ended: the lease; none for "busy"; or an error. `cancelled` after `cancel`.
    struct result {
        std::exception_ptr error{};
        std::optional<lease> held{};
        bool cancelled{false};
    };

    /// Called once, on the client's notifier thread. It should do no more than post the result.
    using handler = std::function<void(result)>;

    /// Waits for ever without a timeout.
    static std::shared_ptr<async_acquire> start(basic_mutex& mutex,
                                                std::optional<std::chrono::nanoseconds> timeout,
                                                handler then);

    virtual ~async_acquire();

    /// Ends the wait as soon as possible; the handler is called all the same. Any thread, any time.
    virtual void cancel() = 0;
};

/// Gives the lease back; `then` is called on the client's notifier thread.
HOLDFAST_EXPORT void start_release(lease held,
                                   std::function<void(std::exception_ptr, release_outcome)> then);

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
