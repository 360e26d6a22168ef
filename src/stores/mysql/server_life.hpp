// From one start of a server to its end.
#pragma once

#include <cstdint>

namespace holdfast::stores::mysql {

/// As a connection finds it. No server has a name for it: it tells for how many seconds it has been up, and counts its
/// connections from the start.
struct server_life {
    std::uint64_t connection{0};  ///< its number
    std::int64_t began{0};        ///< in seconds by the server's clock

    /// `later`: what a later connection found. A clock that was stepped looks like another life, too.
    [[nodiscard]] constexpr bool is_before(server_life const& later) const noexcept {
        constexpr std::int64_t rounding = 2;
        return later.connection < connection || later.began > began + rounding ||
               later.began < began - rounding;
    }
};

}  // namespace holdfast::stores::mysql
