// Another process on the store under test, for rows in which somebody dies.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace holdfast::conformance {

/// The worker of tests/process, which is built beside this program.
[[nodiscard]] inline std::unique_ptr<support::process> start_worker(std::string const& url) {
    auto const here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return std::make_unique<support::process>(
        std::vector<std::string>{(here / "process_worker").string(), url});
}

}  // namespace holdfast::conformance
