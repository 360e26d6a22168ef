// For the holdfast command: a hold that is used by processes other than its holder's.
#pragma once

#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {

class client;

namespace detail {

/// A new descriptor, closed on exec, that belongs to the caller. As long as it or a copy of it is open,
/// in whatever process, the store does not take the client for dead because its process is: holds end
/// with their leases only. -1 where a store knows of no death but by leases, before the client has
/// talked to its store, and when there is no descriptor to be had.
[[nodiscard]] HOLDFAST_EXPORT int share_presence(client const& whose);

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
