#include "stores/zookeeper/paths.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "base/text.hpp"
#include "seam/claim.hpp"

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::string_view claim_prefix = "claim-";
constexpr std::size_t place_digits = 10;

bool is_plain(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == ':';
}

std::string hex(compare::session_id id) { return base::hex(static_cast<std::uint64_t>(id)); }

std::string ten_digits(std::uint64_t number) {
    auto out = std::to_string(number);
    return std::string(place_digits - std::min(place_digits, out.size()), '0') + out;
}

}  // namespace

std::string paths::session(compare::session_id id) const { return sessions() + "/" + hex(id); }
std::string paths::mail(compare::session_id id) const { return all_mail() + "/" + hex(id); }
std::string paths::letter(compare::session_id id, std::uint64_t number) const {
    return mail(id) + "/" + ten_digits(number);
}

// The sessions' folder comes last: where it is, all the others are.
std::vector<std::string> paths::folders() const {
    std::vector<std::string> out;
    for (auto at = root_.find('/', 1); at != std::string::npos; at = root_.find('/', at + 1))
        out.push_back(root_.substr(0, at));
    out.push_back(root_);
    for (auto const& each : {folder(false), folder(true), all_mail(), sessions()})
        out.push_back(each);
    return out;
}

std::string paths::claim(compare::line_item const& item) {
    return std::string{claim_prefix} + seam::to_string(item.id) + "-" + hex(item.session) + "-";
}

std::string paths::numbered(std::string prefix, std::uint64_t number) {
    return std::move(prefix) + ten_digits(number);
}

std::string paths::claim_at_its_place(compare::line_item const& item) {
    return claim(item) + ten_digits(item.place);
}

std::uint64_t paths::place_in(std::string_view path) {
    auto const digits = path.substr(path.size() - std::min(place_digits, path.size()));
    return base::parse_number(digits).value_or(0);
}

std::optional<waiting_child> paths::parse_claim(std::string_view node) {
    constexpr auto tail = 1 + base::hex_digits + 1 + place_digits;
    if (!node.starts_with(claim_prefix) || node.size() < claim_prefix.size() + tail)
        return std::nullopt;
    auto const claim = node.substr(claim_prefix.size(), node.size() - claim_prefix.size() - tail);
    auto const id = seam::parse_claim_id(claim);
    auto const session = base::parse_hex(node.substr(node.size() - tail + 1, base::hex_digits));
    if (!id || !session) return std::nullopt;
    return waiting_child{.node = std::string{node},
                         .id = *id,
                         .session = compare::session_id{*session},
                         .place = place_in(node)};
}

// ZooKeeper refuses '/', '.' and '..', zero bytes, control characters and what is not Unicode. '.' is
// escaped always, so that no name is one of those.
std::string paths::escaped(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (char const each : name) {
        if (is_plain(each)) {
            out += each;
            continue;
        }
        auto const byte = static_cast<unsigned char>(each);
        out += {'%', digits[byte >> 4U], digits[byte & 15U]};
    }
    return out;
}

std::string paths::unescaped(std::string_view node) {
    std::string out;
    for (std::size_t at = 0; at < node.size(); ++at) {
        unsigned char byte = 0;
        if (node[at] == '%' && at + 2 < node.size() &&
            std::from_chars(node.data() + at + 1, node.data() + at + 3, byte, 16).ec ==
                std::errc{}) {
            out += static_cast<char>(byte);
            at += 2;
        } else {
            out += node[at];
        }
    }
    return out;
}

}  // namespace holdfast::stores::zookeeper
