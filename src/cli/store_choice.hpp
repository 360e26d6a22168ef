// Which store a command talks to.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// `given` (--store) if not empty, else $HOLDFAST_STORE, else a file below $XDG_STATE_HOME or
/// ~/.local/state, whose directory is made for this user alone.
/// Throws `usage_error` when there is no home to put it in, std::system_error when it cannot be made.
[[nodiscard]] std::string choose_store(std::string const& given);

/// The lease that the store's URL asks for with ?lease=; nothing when it does not.
[[nodiscard]] std::optional<std::chrono::milliseconds> lease_of_store(std::string_view url);

/// Removes ?lease= from the URL and returns it as it stood there, without the '?'; empty when the URL
/// has none.
[[nodiscard]] std::string take_lease(std::string& url);

/// The URL with one option more, unless that is empty.
[[nodiscard]] std::string with_option(std::string url, std::string_view option);

}  // namespace holdfast::cli
