// The text of a store's URL, as far as the command itself has to understand it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// The path as it stands in a URL, where a percent sign and a question mark mean something.
[[nodiscard]] std::string url_path(std::string const& path);

/// Whether it is a store within one process.
[[nodiscard]] bool is_memory(std::string_view url);

/// Whether it is a file that is another one in another directory.
[[nodiscard]] bool is_relative_file(std::string_view url);

/// The same file by its absolute path. Throws `usage_error` when there is no working directory.
[[nodiscard]] std::string absolute_file(std::string_view url);

/// The lease that the store's URL asks for with ?lease=; nothing when it does not.
[[nodiscard]] std::optional<std::chrono::milliseconds> lease_of_store(std::string_view url);

/// Removes ?lease= from the URL and returns it as it stood there, without the '?'; empty when the URL
/// has none.
[[nodiscard]] std::string take_lease(std::string& url);

/// The URL with one option more, unless that is empty.
[[nodiscard]] std::string with_option(std::string url, std::string_view option);

}  // namespace holdfast::cli
