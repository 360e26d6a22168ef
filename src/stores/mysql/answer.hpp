// What the server answered to one packet.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "stores/compare/driver.hpp"

namespace holdfast::stores::mysql {

using row = std::vector<std::optional<std::string>>;

[[nodiscard]] inline std::uint64_t number_in(std::optional<std::string> const& cell) {
    return cell ? base::parse_number(*cell).value_or(0) : 0;
}

struct answer {
    std::vector<std::vector<row>> results;  ///< of the statements that have rows, in order
    unsigned error{0};    ///< the first statement that failed; nothing behind it was carried out
    std::string words{};  ///< of that error
    /// What failed stands before the packet's first COMMIT, or is its first statement where there is none: nothing has
    /// happened.
    bool undone{false};
    std::optional<base::error> lost{};  ///< no answer came
    bool sent{true};                    ///< what was lost had been sent, at least in part
    seam::clock_id clock{};             ///< whose times they are

    [[nodiscard]] row const& first(std::size_t result = 0) const {
        return results.at(result).at(0);
    }
};

/// Statements that leave in one packet, with marks in them. `done` is called once.
struct exchange {
    std::string text;
    std::function<void(answer)> done;
};

}  // namespace holdfast::stores::mysql
