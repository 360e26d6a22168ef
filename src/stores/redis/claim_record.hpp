// A claim as the record of its name has it, for scripts that put records together (scripts/solo.lua).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "seam/claim.hpp"

namespace holdfast::stores::redis {

/// What stands before the times of a grant: kind, mode, a 1 (details follow) and the claim's id.
class record_head {
public:
    explicit record_head(seam::claim const& of) noexcept;
    operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

private:
    static constexpr std::size_t digits = 3;
    static constexpr std::size_t id_size = 33;
    std::array<char, digits + id_size> text_;
};

/// What stands behind them, up to the owner; `info` is the end of the record.
[[nodiscard]] std::string record_tail(seam::claim const& of, std::size_t room_for_info);

/// For how long the server keeps the record of a hold that nobody renews or gives back, in milliseconds.
[[nodiscard]] constexpr std::int64_t record_lifetime(std::chrono::milliseconds lease) noexcept {
    constexpr std::int64_t behind = 10'001;
    return lease.count() + behind;
}

}  // namespace holdfast::stores::redis
