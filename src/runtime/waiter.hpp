// A thread that waits for the engine to complete its call.
#pragma once

#include <boost/intrusive/list.hpp>

#include "base/mutex.hpp"
#include "core/call.hpp"

namespace holdfast::runtime {

class driver_role;
class loop;

/// Lives on the waiting thread's stack. Its members are guarded by the loop's mutex.
class waiter final : public core::completion, public boost::intrusive::list_base_hook<> {
public:
    explicit waiter(loop& of) noexcept;
    explicit waiter(driver_role& role) noexcept : role_{role} {}

    void completed() noexcept override;
    void nudged() noexcept override;
    void queued() noexcept override;

    bool done{false};
    bool offered{false};  ///< nudged: come and take the hold
    bool stopped{false};  ///< a stop was requested
    bool driving{false};  ///< inside store::drive
    base::condition_variable woken{};

private:
    driver_role& role_;
};

}  // namespace holdfast::runtime
