// The hash slots of a cluster: which slot a key falls into, and which server serves it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "seam/request.hpp"

namespace holdfast::stores::redis {

using slot_number = std::uint16_t;

inline constexpr std::size_t slot_count = 16384;

/// The slot of keys with this text in braces, or of a key that is this text and has no braces.
[[nodiscard]] slot_number slot_of(std::string_view tag) noexcept;

/// A short text that falls into a slot, the same for all clients: what must be there once for each slot has it in
/// its key. On the stack.
class slot_tag {
public:
    explicit slot_tag(slot_number of);
    operator std::string_view() const noexcept { return {text_.data(), length_}; }

private:
    std::array<char, 8> text_;
    std::size_t length_;
};

/// Which lane serves which slot at present.
///
/// Thread-safety: all members may be called from any thread at once.
class slot_map {
public:
    slot_map() noexcept;

    /// Nothing where nobody serves it, as far as is known.
    [[nodiscard]] std::optional<seam::lane_id> lane_of(slot_number slot) const noexcept;
    void assign(slot_number slot, std::optional<seam::lane_id> to) noexcept;

    /// The lanes that serve some slot.
    [[nodiscard]] std::vector<seam::lane_id> lanes() const;

    /// One of the slots that the lane serves, chosen by `random`.
    [[nodiscard]] std::optional<slot_number> slot_served_by(seam::lane_id lane,
                                                            std::uint64_t random) const noexcept;

private:
    static constexpr std::uint16_t nobody = UINT16_MAX;
    std::array<std::atomic<std::uint16_t>, slot_count> lanes_;
};

}  // namespace holdfast::stores::redis
