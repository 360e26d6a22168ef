// What a server or its network reports, turned into an error that names the server and the cure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "stores/postgres/settings.hpp"

namespace holdfast::stores::postgres {

/// The server answered with an error. Its own words are kept, without the password.
[[nodiscard]] base::error explain(std::string_view state, std::string_view words,
                                  settings const& of);

/// There is no connection, or it broke. `words` are those of libpq, with the SQLSTATE in them when the
/// server gave one.
[[nodiscard]] base::error unreachable(std::string_view words, settings const& of);

/// The server is a standby, or takes no writes for another reason.
[[nodiscard]] base::error read_only(settings const& of);

}  // namespace holdfast::stores::postgres
