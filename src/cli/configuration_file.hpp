// One configuration file, as TOML.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "configuration.hpp"

namespace holdfast::cli {

struct configuration_file {
    std::map<std::string, configured_store, std::less<>> stores{};
    std::optional<configured_store> default_store{};  ///< its `url` may be a name
};

/// Throws `failure` with the file and the line of a mistake: an unknown key is one. No text repeats a
/// value, which may be a password.
[[nodiscard]] configuration_file parse_configuration(std::string const& path,
                                                     std::string const& text);

}  // namespace holdfast::cli
