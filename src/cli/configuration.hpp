// The configuration files: stores by name, and which of them is meant when none is given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// A store as a configuration file names it.
struct configured_store {
    std::string name{};   ///< by which --store knows it: `default` for one that is only that
    std::string url{};    ///< may hold a password
    std::string where{};  ///< "FILE:LINE"
};

class configuration {
public:
    /// Reads the user's file ($XDG_CONFIG_HOME or ~/.config, then holdfast/config.toml) and the machine's
    /// (/etc/holdfast/config.toml); what the user's says comes first. A file that is not there says nothing.
    /// Warns of a password that everybody can read. Throws `failure`, with file and line, for a mistake, and
    /// for a file that cannot be read or that others could have written.
    [[nodiscard]] static configuration read();

    /// The store called `name`; `default` is the default one, unless another is called so. Throws `failure`, which names those that there are.
    [[nodiscard]] configured_store const& find(std::string_view name) const;

    /// Nothing when no file names one.
    [[nodiscard]] std::optional<configured_store> default_store() const;

private:
    void add(std::string const& path);
    [[nodiscard]] std::vector<std::string_view> names() const;

    std::map<std::string, configured_store, std::less<>> stores_{};
    std::optional<configured_store> default_{};  ///< its `url` may be a name
    std::vector<std::string> paths_{};           ///< of all files, there or not
};

/// Whether the word is the name of a configured store rather than a URL, which has a scheme.
[[nodiscard]] bool is_store_name(std::string_view word) noexcept;

}  // namespace holdfast::cli
