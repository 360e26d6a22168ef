// A timer to poll, on the clock that goes on while the machine sleeps.
#pragma once

#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace holdfast::base {

/// Thread-safety: all of it from any thread.
class boot_timer {
public:
    /// Throws std::system_error when the process has no descriptor left.
    boot_timer();

    /// Readable from `when` on, whatever was set before; at once when that has passed; with `never` not at all.
    void arm(instant when) noexcept;

    /// Readable no more, until it is armed again.
    void clear() noexcept;

    [[nodiscard]] int number() const noexcept { return timer_.get(); }

private:
    descriptor timer_;
};

}  // namespace holdfast::base
