// A layout: the keys and scripts that locks live in, and what requests, answers and messages mean in
// them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "seam/store.hpp"
#include "stores/redis/exchange.hpp"
#include "stores/redis/settings.hpp"
#include "stores/redis/slots.hpp"

namespace holdfast::stores::redis {

/// A listing asks for so many keys at once.
inline constexpr unsigned keys_per_scan = 1000;

/// What a message means.
struct heard {
    std::optional<seam::notice> notice{};  ///< nothing when it makes no sense
    std::string warning{};                 ///< for the log, when it is not empty
};

/// Thread-safety: all members may be called from any thread at once.
class layout {
public:
    virtual ~layout() = default;

    [[nodiscard]] virtual seam::capabilities abilities() const = 0;

    /// Begins a request. An exchange without commands has its reply at once.
    [[nodiscard]] virtual std::unique_ptr<exchange> begin(seam::request what) const = 0;

    /// The slot that all keys of a name fall into.
    [[nodiscard]] virtual slot_number slot_of(std::string_view name) const noexcept = 0;

    /// Where this client is told things; empty for a layout without messages.
    [[nodiscard]] virtual std::string channel() const { return {}; }

    /// What a message there means. Anybody may have sent it.
    [[nodiscard]] virtual heard read(std::string_view /*message*/) const { return {}; }
};

/// holdfast's own layout, with lines, hand-over and messages. `slots` are those of a cluster, else nullptr.
[[nodiscard]] std::unique_ptr<layout> make_native_layout(settings const& wanted,
                                                         seam::identity const& self,
                                                         std::shared_ptr<slot_map const> slots);

/// One string per lock, as redis-py, redsync, node-redlock and others have it.
[[nodiscard]] std::unique_ptr<layout> make_plain_layout(settings const& wanted,
                                                        seam::identity const& self,
                                                        std::shared_ptr<slot_map const> slots);

}  // namespace holdfast::stores::redis
