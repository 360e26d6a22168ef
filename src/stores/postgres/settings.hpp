// What a postgres: URL asks for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stores/sql/settings.hpp"

namespace holdfast::stores::postgres {

struct settings : sql::settings {
    /// Keywords of libpq with their values, the password too. What is missing comes from its environment variables, its
    /// password file and its defaults.
    std::vector<std::pair<std::string, std::string>> parameters;

    /// Throws errc::bad_url.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::postgres
