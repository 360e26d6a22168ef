// A thread that waits for the engine to complete its call.
#pragma once

#include <condition_variable>

#include <boost/intrusive/list.hpp>

#include "base/clock.hpp"
#include "core/call.hpp"

namespace holdfast::runtime {

class loop;

/// Lives on the waiting thread's stack. Its members are guarded by the loop's mutex.
class waiter final : public core::completion, public boost::intrusive::list_base_hook<> {
public:
    explicit waiter(loop& of) noexcept : loop_{of} {}

    void completed() noexcept override;
    void nudged() noexcept override;
    void queued() noexcept override;

    bool done{false};
    bool offered{false};  ///< nudged: come and take the hold
    bool stopped{false};  ///< a stop was requested
    bool driving{false};  ///< inside store::drive
    std::condition_variable woken{};

private:
    loop& loop_;
};

}  // namespace holdfast::runtime
