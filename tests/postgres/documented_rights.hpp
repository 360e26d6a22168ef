// The lines with which docs/stores/postgres.md gives a user rights.
#pragma once

#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>

namespace holdfast::postgres_faults {

/// For tables of this prefix, and this user.
[[nodiscard]] inline std::string documented_rights(std::string const& prefix,
                                                   std::string const& user) {
    std::ifstream page{HOLDFAST_TEST_PAGE};
    std::string out;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("GRANT ") && line.ends_with(" TO app;"))
            out += std::regex_replace(line.substr(0, line.rfind(" app;")), std::regex{"holdfast_"},
                                      prefix) +
                   " " + user + ";";
    if (out.empty()) throw std::runtime_error{"no rights in " HOLDFAST_TEST_PAGE};
    return out;
}

}  // namespace holdfast::postgres_faults
