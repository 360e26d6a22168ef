// A timer to poll, on the clock that goes on while the machine sleeps.
#pragma once

#include <optional>

#include "clock.hpp"
#include "owned_descriptor.hpp"

namespace holdfast::cli {

class boot_timer {
public:
    boot_timer();

    /// Readable from `when` on; never when there is none. A time that has passed is now.
    void arm(std::optional<boot_clock::time_point> when) noexcept;

    [[nodiscard]] int descriptor() const noexcept { return timer_.get(); }

private:
    owned_descriptor timer_;
};

}  // namespace holdfast::cli
