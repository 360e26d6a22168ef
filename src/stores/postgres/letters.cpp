#include "stores/postgres/letters.hpp"

#include <cstdint>
#include <utility>

#include "base/text.hpp"

namespace holdfast::stores::postgres {

namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned digit_bits = 6;
constexpr unsigned byte_bits = 8;

// The first word, which is taken off.
std::string_view take_word(std::string_view& from) {
    auto const end = from.find(' ');
    auto const out = from.substr(0, end);
    from.remove_prefix(end == std::string_view::npos ? from.size() : end + 1);
    return out;
}

}  // namespace

std::string encoded(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() * byte_bits / digit_bits + 1);
    std::uint32_t held = 0;
    unsigned count = 0;
    for (char const each : bytes) {
        held = held << byte_bits | static_cast<unsigned char>(each);
        for (count += byte_bits; count >= digit_bits;) {
            count -= digit_bits;
            out += digits[held >> count & 63U];
        }
    }
    if (count > 0) out += digits[held << (digit_bits - count) & 63U];
    return out;
}

std::optional<std::string> decoded(std::string_view words) {
    std::string out;
    std::uint32_t held = 0;
    unsigned count = 0;
    for (char const each : words) {
        auto const value = digits.find(each);
        if (value == std::string_view::npos) return std::nullopt;
        held = held << digit_bits | static_cast<std::uint32_t>(value);
        count += digit_bits;
        if (count >= byte_bits) {
            count -= byte_bits;
            out += static_cast<char>(held >> count & 255U);
        }
    }
    return out;
}

std::vector<std::string> letter_pieces(std::string_view body) {
    std::vector<std::string> out;
    do {
        auto const piece = body.substr(0, letter_room);
        body.remove_prefix(piece.size());
        out.push_back((body.empty() ? "." : "+") + encoded(piece));
    } while (!body.empty());
    return out;
}

std::string change_payload(compare::name_key const& key) {
    return std::string{"C "} + (key.condition ? "t " : "f ") + encoded(key.name);
}

std::string proof_payload(std::string const& nonce) { return "P " + nonce; }

std::optional<heard> read_payload(std::string_view payload) {
    auto const kind = take_word(payload);
    if (kind == "P") return proof_heard{std::string{payload}};
    if (kind == "C") {
        bool const condition = take_word(payload) == "t";
        auto name = decoded(payload);
        if (!name) return std::nullopt;
        return change_heard{{*std::move(name), condition}};
    }
    if (kind != "L") return std::nullopt;
    auto const to = base::parse_number(take_word(payload));
    auto const written = base::parse_number(take_word(payload));
    take_word(payload);  // its number in the step: the same words twice would be said once
    bool const whole = payload.starts_with('.');
    if (!whole && !payload.starts_with('+')) return std::nullopt;
    auto body = decoded(payload.substr(1));
    if (!to || !written || !body) return std::nullopt;
    return letter_heard{compare::session_id{*to}, compare::stamp{*written}, *std::move(body),
                        whole};
}

void letter_assembly::forget(compare::session_id to) {
    sessions_.erase(to);
    begun_.erase(to);
}

letter_assembly::state letter_assembly::add(letter_heard& piece) {
    if (!sessions_.contains(piece.to)) return state::ignored;
    auto& body = begun_.try_emplace(piece.to, std::string{}).first->second;
    if (body && body->size() + piece.body.size() > longest) body.reset();
    if (body) *body += piece.body;
    if (!piece.whole) return state::incomplete;
    bool const complete = body.has_value();
    if (complete) piece.body = *std::move(body);
    begun_.erase(piece.to);
    return complete ? state::whole : state::too_long;
}

}  // namespace holdfast::stores::postgres
