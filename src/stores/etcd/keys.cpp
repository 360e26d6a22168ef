#include "stores/etcd/keys.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "seam/claim.hpp"
#include "stores/compare/view_parts.hpp"

namespace holdfast::stores::etcd {

namespace {

// Behind a name in the key of a claim. A zero byte inside the name is followed by the highest byte, so that no
// name's claims lie between those of another, and keys have the order of names.
constexpr char separator = '\0';
constexpr char inside = '\xff';

std::string escaped(std::string_view name) {
    std::string out;
    for (char const each : name) {
        out += each;
        if (each == separator) out += inside;
    }
    return out;
}

char const* heads_of(bool condition) { return condition ? "condition/" : "name/"; }
char const* lines_of(bool condition) { return condition ? "condition-line/" : "line/"; }

std::string hex(compare::session_id id) { return base::hex(static_cast<std::uint64_t>(id)); }

}  // namespace

std::string keys::head(compare::name_key const& key) const {
    return prefix_ + heads_of(key.condition) + key.name;
}

std::string keys::claim(compare::name_key const& key, seam::claim_id id) const {
    if (id.index() == 0) return line(key).begin + seam::to_string(id);
    return line(key).begin + base::hex(static_cast<std::uint64_t>(id.client)) + '-' +
           std::to_string(id.index());
}

key_range keys::line(compare::name_key const& key) const {
    auto const common = prefix_ + lines_of(key.condition) + escaped(key.name) + separator;
    return {common, common + inside};
}

std::string keys::session(compare::session_id id) const { return prefix_ + "session/" + hex(id); }

std::string keys::letter(compare::session_id to, std::size_t index) const {
    return mail(to).begin + std::to_string(index);
}

key_range keys::mail(compare::session_id to) const {
    auto const common = prefix_ + "mail/" + hex(to) + "/";
    return {common, *compare::behind_prefix(common)};
}

key_range keys::heads_behind(bool condition, std::string_view prefix,
                             std::string_view after) const {
    auto const folder = prefix_ + heads_of(condition);
    auto const common = folder + std::string{prefix};
    auto const next = after.empty() ? common : folder + std::string{after} + '\0';
    return {std::max(common, next), *compare::behind_prefix(common)};
}

key_range keys::lines_behind(bool condition, std::string_view prefix,
                             std::string_view after) const {
    auto const folder = prefix_ + lines_of(condition);
    auto const common = folder + escaped(prefix);
    auto const next = after.empty() ? common : folder + escaped(after) + separator + inside;
    return {std::max(common, next), *compare::behind_prefix(common)};
}

std::string keys::name_of(std::string_view key, bool in_line) const {
    key.remove_prefix(std::min(prefix_.size(), key.size()));
    key.remove_prefix(key.find('/') + 1);
    if (!in_line) return std::string{key};
    std::string out;
    for (std::size_t at = 0; at < key.size(); ++at) {
        if (key[at] == separator && (at + 1 == key.size() || key[at + 1] != inside)) break;
        out += key[at];
        if (key[at] == separator) ++at;
    }
    return out;
}

}  // namespace holdfast::stores::etcd
