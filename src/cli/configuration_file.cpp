#include "configuration_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

// Within this file alone, so that the command does not depend on a library that it seldom needs.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/suggestion.hpp"
#include "exit_status.hpp"
#include "store_paths.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr std::string_view default_key = "default";
constexpr std::string_view stores_key = "stores";
constexpr std::array known_keys{default_key, stores_key};

class reader {
public:
    explicit reader(std::string const& path) : path_{path} {}

    configuration_file read(std::string const& text) {
        auto const parsed = toml::parse(std::string_view{text}, std::string_view{path_});
        if (!parsed) refuse(parsed.error().source(), parsed.error().description());
        configuration_file out;
        for (auto const& [key, value] : parsed.table()) {
            if (key == default_key)
                out.default_store = read_default(value);
            else if (key == stores_key)
                read_stores(value, out);
            else
                refuse(key.source(), fmt::format("unknown key '{}'{}", harmless(key.str()),
                                                 base::did_you_mean(key.str(), known_keys)));
        }
        return out;
    }

private:
    [[nodiscard]] std::string where(toml::source_region const& source) const {
        return fmt::format("{}:{}", path_, source.begin.line);
    }

    [[noreturn]] void refuse(toml::source_region const& source, std::string_view what) const {
        throw failure{exit_status::usage, fmt::format("{}: {}", where(source), what).c_str()};
    }

    configured_store read_default(toml::node const& value) const {
        auto const* const text = value.as_string();
        if (!text || text->get().empty())
            refuse(value.source(), "default: the URL or the name of a store is wanted, in quotes");
        configured_store out{"default", text->get(), where(value.source())};
        if (!is_store_name(out.url)) check_url(value.source(), "default", out.url);
        return out;
    }

    void read_stores(toml::node const& value, configuration_file& out) const {
        auto const* const table = value.as_table();
        if (!table)
            refuse(value.source(), "stores: a table is wanted: [stores], then NAME = \"URL\"");
        for (auto const& [key, url] : *table) {
            auto const name = std::string{key.str()};
            check_name(key);
            auto const* const text = url.as_string();
            if (!text || text->get().empty())
                refuse(url.source(),
                       fmt::format("{}: the URL of a store is wanted, in quotes", name));
            check_url(url.source(), name, text->get());
            out.stores.emplace(name, configured_store{name, text->get(), where(key.source())});
        }
    }

    void check_name(toml::key const& key) const {
        constexpr auto legal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
        auto const name = key.str();
        if (name.empty() || name.front() == '-' || name.find_first_not_of(legal) != name.npos)
            refuse(key.source(), fmt::format("'{}' cannot name a store: letters, digits, '_', '-' "
                                             "and '.' can",
                                             harmless(name)));
    }

    void check_url(toml::source_region const& source, std::string_view key,
                   std::string const& url) const {
        if (is_store_name(url))
            refuse(source, fmt::format("{}: this is not the URL of a store, such as "
                                       "file:/var/lib/app/locks.db or redis://HOST",
                                       key));
        if (is_relative_file(url))
            refuse(source, fmt::format("{}: a file store needs an absolute path here", key));
    }

    std::string const& path_;
};

}  // namespace

configuration_file parse_configuration(std::string const& path, std::string const& text) {
    return reader{path}.read(text);
}

}  // namespace holdfast::cli
