// The text of a store's URL, as far as the command itself has to understand it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// Whether the URL has this scheme, which is given in lower case; the case of the URL does not matter.
[[nodiscard]] bool has_scheme(std::string_view url, std::string_view scheme);

/// Whether it is a store within one process.
[[nodiscard]] bool is_memory(std::string_view url);

/// The lease that the store's URL asks for with ?lease=; nothing when it does not.
[[nodiscard]] std::optional<std::chrono::milliseconds> lease_of_store(std::string_view url);

/// Removes ?lease= from the URL and returns it as it stood there, without the '?'; empty when the URL
/// has none.
[[nodiscard]] std::string take_lease(std::string& url);

/// The URL with one option more, unless that is empty.
[[nodiscard]] std::string with_option(std::string url, std::string_view option);

}  // namespace holdfast::cli
