#include "home.hpp"

#include <cstdlib>

#include <pwd.h>
#include <unistd.h>

namespace holdfast::cli {

std::string environment(char const* name) {
    char const* value = std::getenv(name);
    return value ? value : "";
}

std::string user_directory(char const* variable, char const* below) {
    if (auto given = environment(variable); given.starts_with('/')) return given;
    auto home = environment("HOME");
    if (!home.starts_with('/')) {
        passwd const* entry = ::getpwuid(::geteuid());
        home = entry && entry->pw_dir ? entry->pw_dir : "";
    }
    return home.starts_with('/') ? home + "/" + below : std::string{};
}

}  // namespace holdfast::cli
