// The paths in a store URL: the same for whoever uses the URL, wherever that is.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace holdfast::cli {

/// The path as it stands in a URL.
[[nodiscard]] std::string url_path(std::string_view path);

/// Whether it is a file that is another one in another directory.
[[nodiscard]] bool is_relative_file(std::string_view url);

/// The URL with paths that are relative to the working directory made absolute: that of the store, and those in
/// options that name files. When there are such and the working directory cannot be found, `fault` says why and the
/// URL stays as it is.
[[nodiscard]] std::string with_absolute_paths(std::string_view url, std::error_code& fault);

}  // namespace holdfast::cli
