// What a server or its network reports, turned into an error that names the server and the cure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "stores/redis/settings.hpp"

namespace holdfast::stores::redis {

/// The server answered with an error. Its own words are kept, without the password.
[[nodiscard]] base::error explain(std::string_view words, settings const& of);

/// There is no connection, or it broke.
[[nodiscard]] base::error unreachable(std::string_view why, settings const& of);

/// Behind the address is another server than the one that the request was made for.
[[nodiscard]] base::error another_server(settings const& of);

/// The server is a replica, or no server for data at all.
[[nodiscard]] base::error not_a_master(std::string_view role, settings const& of);

}  // namespace holdfast::stores::redis
