// worker: one process of a run, with its clients and their parties.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "histories/plan.hpp"

namespace holdfast::histories {

struct worker_settings {
    std::string url{};
    std::filesystem::path directory{};
    int number{0};
    int incarnation{0};
    int clients{1};
    std::uint64_t seed{0};
    histories::crew crew{};

    /// As arguments of the program, and back.
    [[nodiscard]] std::vector<std::string> words() const;
    [[nodiscard]] static worker_settings from(std::vector<std::string> const& words);
};

/// How many parties a worker with so many clients has.
[[nodiscard]] std::size_t parties_of(int clients, crew who);

/// What a party does.
[[nodiscard]] char const* role_of(std::size_t party, crew who);

/// Runs until standard input says "finish"; ends at once when it ends. Returns the exit status.
int run_worker(worker_settings const& settings);

}  // namespace holdfast::histories
