// run: one store, several workers, faults in rounds, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "histories/history.hpp"

namespace holdfast::histories {

struct run_settings {
    std::string program{};  ///< this program's path, to start workers with
    std::string store{};
    std::uint64_t seed{0};
    std::chrono::milliseconds lasts{15'000};
    std::filesystem::path directory{};  ///< an empty one, for journals and registers
    bool careless{false};
};

struct run_result {
    histories::history history{};
    std::map<std::string, int> faults{};
    std::chrono::milliseconds worst_recovery{0};
    std::string worst_fault{};
};

[[nodiscard]] run_result perform(run_settings const& settings);

}  // namespace holdfast::histories
