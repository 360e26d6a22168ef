// What a postgres: URL asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/url.hpp"

namespace holdfast::stores::postgres {

struct settings {
    /// Keywords of libpq with their values. What is missing comes from its environment variables, its
    /// password file and its defaults.
    std::vector<std::pair<std::string, std::string>> parameters;
    std::string password;             ///< also among the parameters; empty when the URL gives none
    std::string server;               ///< as messages name it, without user and password
    std::string prefix{"holdfast_"};  ///< of all tables, with a schema and a dot where one is named
    std::uint32_t connections{4};     ///< at most so many beside the one for messages
    std::chrono::milliseconds timeout{3000};  ///< for a connection, and for an answer

    /// Throws errc::bad_url.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::postgres
