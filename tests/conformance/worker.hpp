// Another process on the store under test, for rows in which somebody dies.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.hpp"

namespace holdfast::conformance {

/// The URL with a shorter lease for everything that does not name its own.
[[nodiscard]] inline std::string with_lease(std::string const& url, std::string_view lease) {
    return url + (url.find('?') == std::string::npos ? "?lease=" : "&lease=") + std::string{lease};
}

/// The worker of tests/process, which is built beside this program.
[[nodiscard]] inline std::unique_ptr<support::process> start_worker(std::string const& url) {
    auto const here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return std::make_unique<support::process>(
        std::vector<std::string>{(here / "process_worker").string(), url});
}

}  // namespace holdfast::conformance
