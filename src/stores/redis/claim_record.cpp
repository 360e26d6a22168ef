#include "stores/redis/claim_record.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

namespace holdfast::stores::redis {

namespace {

template <class Enumeration>
char digit(Enumeration value) noexcept {
    return static_cast<char>('0' + static_cast<unsigned>(value));
}

// The least significant byte first, whatever this machine does.
template <std::unsigned_integral Number>
void append_number(std::string& to, Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
        to += static_cast<char>(static_cast<unsigned char>(value));
        value >>= 8;
    }
}

void append_text(std::string& to, std::string_view text) {
    append_number(to, static_cast<std::uint32_t>(text.size()));
    to += text;
}

}  // namespace

record_head::record_head(seam::claim const& of) noexcept {
    text_[0] = digit(of.spec->kind);
    text_[1] = digit(of.spec->mode);
    text_[2] = 1;
    std::ranges::copy(std::string_view{seam::claim_words{of.id}}, text_.begin() + digits);
}

std::string record_tail(seam::claim const& of, std::size_t room_for_info) {
    auto const& spec = *of.spec;
    constexpr std::size_t numbers = 32;
    std::string out;
    out.reserve(numbers + spec.name.size() + spec.owner.get().size() + room_for_info);
    auto const lease = static_cast<double>(std::chrono::microseconds{spec.lease}.count());
    append_number(out, std::bit_cast<std::uint64_t>(lease));
    append_number(out, std::uint32_t{spec.permits});
    out += spec.order == ordering::fair ? '1' : '0';
    out += spec.joins ? '1' : '0';
    append_number(out, std::uint32_t{spec.limit});
    append_text(out, spec.name);
    append_text(out, spec.owner.get());
    return out;
}

}  // namespace holdfast::stores::redis
