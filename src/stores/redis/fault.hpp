// What a server or its network reports, turned into an error that names the server and the cure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "stores/redis/settings.hpp"

namespace holdfast::stores::redis {

/// The server answered with an error. Its own words are kept, without the password.
[[nodiscard]] base::error explain(std::string_view words, settings const& of);

/// There is no connection, or it broke.
[[nodiscard]] base::error unreachable(std::string_view why, settings const& of);

/// A connection that ended, for this reason, before anything was heard on it: perhaps a port with TLS.
[[nodiscard]] base::error never_heard(std::string_view why, settings const& of);

/// The server takes connections but does not answer the handshake of TLS.
[[nodiscard]] base::error no_handshake(settings const& of);

/// The first bytes that came belong to another protocol; nothing when they may be those of Redis.
[[nodiscard]] std::optional<base::error> other_protocol(std::string_view bytes, settings const& of);

/// By its INFO the server is one that a URL for one server is of no use with: a Sentinel, or a node of a
/// cluster. Nothing when it is neither, or when the URL names a Sentinel or a cluster.
[[nodiscard]] std::optional<base::error> other_mode(std::string_view info, settings const& of);

/// Behind the address is another server than the one that the request was made for.
[[nodiscard]] base::error another_server(settings const& of);

/// The server is a replica, or no server for data at all.
[[nodiscard]] base::error not_a_master(std::string_view role, settings const& of);

/// Whether the server says that it will not carry out this script now or later: it lacks a command, or the user a right.
[[nodiscard]] bool is_lasting(std::string_view words) noexcept;

}  // namespace holdfast::stores::redis
