#include "stores/redis/slots.hpp"

#include <charconv>
#include <set>

namespace holdfast::stores::redis {

namespace {

constexpr std::array<std::uint16_t, 256> make_table() {
    constexpr std::uint16_t polynomial =
        0x1021;  // CRC-16/XMODEM, as the cluster specification has it
    constexpr std::uint16_t high_bit = 0x8000;
    std::array<std::uint16_t, 256> out{};
    for (unsigned i = 0; i < out.size(); ++i) {
        auto value = static_cast<std::uint16_t>(i << 8);
        for (int bit = 0; bit < 8; ++bit)
            value = static_cast<std::uint16_t>((value & high_bit) != 0 ? (value << 1) ^ polynomial
                                                                       : value << 1);
        out[i] = value;
    }
    return out;
}

constexpr auto table = make_table();

using tag_digits = std::array<char, 8>;

std::size_t write_number(std::uint32_t number, tag_digits& to) noexcept {
    return static_cast<std::size_t>(std::to_chars(to.data(), to.data() + to.size(), number).ptr -
                                    to.data());
}

// The smallest number, in decimal digits, that falls into each slot.
std::vector<std::uint32_t> find_tags() {
    constexpr auto none = UINT32_MAX;
    std::vector<std::uint32_t> out(slot_count, none);
    tag_digits text;
    std::size_t left = slot_count;
    for (std::uint32_t number = 0; left > 0; ++number) {
        auto const length = write_number(number, text);
        auto& place = out[slot_of({text.data(), length})];
        if (place != none) continue;
        place = number;
        --left;
    }
    return out;
}

}  // namespace

slot_number slot_of(std::string_view tag) noexcept {
    std::uint16_t sum = 0;
    for (char const c : tag)
        sum = static_cast<std::uint16_t>((sum << 8) ^
                                         table[(sum >> 8) ^ static_cast<unsigned char>(c)]);
    return sum % slot_count;
}

slot_tag::slot_tag(slot_number of) {
    static auto const tags = find_tags();
    length_ = write_number(tags[of], text_);
}

slot_map::slot_map() noexcept {
    for (auto& each : lanes_)
        each.store(nobody, std::memory_order_relaxed);
}

std::optional<seam::lane_id> slot_map::lane_of(slot_number slot) const noexcept {
    auto const lane = lanes_[slot].load(std::memory_order_relaxed);
    if (lane == nobody) return std::nullopt;
    return seam::lane_id{lane};
}

void slot_map::assign(slot_number slot, std::optional<seam::lane_id> to) noexcept {
    lanes_[slot].store(to ? static_cast<std::uint16_t>(*to) : nobody, std::memory_order_relaxed);
}

std::vector<seam::lane_id> slot_map::lanes() const {
    std::set<std::uint16_t> found;
    for (auto const& each : lanes_)
        found.insert(each.load(std::memory_order_relaxed));
    found.erase(nobody);
    std::vector<seam::lane_id> out;
    for (auto const each : found)
        out.push_back(seam::lane_id{each});
    return out;
}

std::optional<slot_number> slot_map::slot_served_by(seam::lane_id lane,
                                                    std::uint64_t random) const noexcept {
    auto const first = random % slot_count;
    for (std::size_t i = 0; i < slot_count; ++i) {
        auto const slot = static_cast<slot_number>((first + i) % slot_count);
        if (lane_of(slot) == lane) return slot;
    }
    return std::nullopt;
}

}  // namespace holdfast::stores::redis
