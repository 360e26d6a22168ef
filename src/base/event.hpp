// Something to poll that another thread makes readable.
#pragma once

#include "base/descriptor.hpp"

namespace holdfast::base {

/// Thread-safety: all of it from any thread; `set` also from a signal handler.
class event {
public:
    /// Throws std::system_error when the process has no descriptor left.
    event();

    /// Readable until it is cleared.
    void set() noexcept;
    void clear() noexcept;

    [[nodiscard]] int number() const noexcept { return event_.get(); }

private:
    descriptor event_;
};

}  // namespace holdfast::base
