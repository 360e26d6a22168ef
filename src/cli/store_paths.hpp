// The paths in a store URL: the same for whoever uses the URL, wherever that is.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// The URL with paths that were relative to the present working directory made absolute: that of the
/// store, and those in options that name files. To be given what `client::url` returns, which is well
/// formed. Without a working directory they stay as they are.
[[nodiscard]] std::string with_absolute_paths(std::string_view url);

}  // namespace holdfast::cli
