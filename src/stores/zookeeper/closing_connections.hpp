// Connections by which a session was ended, until the server closes them.
#pragma once

#include <chrono>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"

namespace holdfast::stores::zookeeper {

/// A connection that is closed with something unread in it is reset, and the server might miss what was said last.
///
/// Thread-safety: none; the driver serialises.
class closing_connections {
public:
    void add(base::descriptor which);

    void tend(base::instant now);
    [[nodiscard]] base::instant due() const noexcept;
    /// Waits until all servers have closed theirs, or so long.
    void wait(std::chrono::milliseconds longest) noexcept;
    void clear() noexcept { all_.clear(); }
    [[nodiscard]] bool is_empty() const noexcept { return all_.empty(); }

private:
    struct one {
        base::descriptor socket;
        base::instant until;
    };

    std::vector<one> all_;
};

}  // namespace holdfast::stores::zookeeper
