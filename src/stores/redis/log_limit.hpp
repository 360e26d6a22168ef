// Keeps trouble that comes again and again from filling a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace holdfast::stores::redis {

/// For lines of one kind: the first is written at once, then at most one in `pause`, which tells how
/// many were left out.
///
/// Thread-safety: none; its owner serialises.
class log_limit {
public:
    static constexpr std::chrono::seconds pause{10};

    /// The line to write; nothing when it is left out.
    [[nodiscard]] std::optional<std::string> admit(std::string words, base::instant now) {
        if (last_ && now - *last_ < pause) {
            ++left_out_;
            return std::nullopt;
        }
        last_ = now;
        if (auto const count = std::exchange(left_out_, 0); count > 0)
            words += " (" + std::to_string(count) + " more times since this was last said)";
        return words;
    }

private:
    std::optional<base::instant> last_;
    std::uint64_t left_out_{0};
};

}  // namespace holdfast::stores::redis
