// The lines with which docs/stores/redis.md makes users.
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::redis_faults {

inline constexpr char const* documented_password = "s3cret";

/// In their order.
enum class right : std::size_t { locks, nodes, sentinels };

/// The words of one of them, with a password.
[[nodiscard]] inline std::vector<std::string> documented_rights(right which) {
    std::ifstream page{HOLDFAST_TEST_PAGE};
    auto left = static_cast<std::size_t>(which);
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("ACL SETUSER ") || left-- > 0) continue;
        std::istringstream in{line};
        std::vector<std::string> out{std::istream_iterator<std::string>{in}, {}};
        for (auto& word : out)
            if (word == ">PASSWORD") word = std::string{">"} + documented_password;
        return out;
    }
    throw std::runtime_error{"no line with these rights in " HOLDFAST_TEST_PAGE};
}

}  // namespace holdfast::redis_faults
