#include "stores/quorum/agreement.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace holdfast::stores::quorum {

namespace {

constexpr std::string_view version = "1";

// FNV-1a: it tells slips of the pen apart, and nobody gains by a collision.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t out = 0xcbf29ce484222325ULL;
    for (char const c : text)
        out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return out;
}

std::string_view take_word(std::string_view& from) {
    auto const end = std::min(from.find(' '), from.size());
    auto const out = from.substr(0, end);
    from.remove_prefix(std::min(end + 1, from.size()));
    return out;
}

}  // namespace

agreement agreement::on(std::vector<std::string> addresses,
                        std::chrono::milliseconds longest_lease) {
    std::ranges::sort(addresses);
    std::string all;
    for (auto const& each : addresses)
        all += each + ",";
    return {addresses.size(), base::hex(hash_of(all)), longest_lease};
}

std::string write(member_record const& record) {
    return std::string{version} + " " + std::to_string(record.agreed.members) + " " +
           record.agreed.digest + " " + std::to_string(record.agreed.longest_lease.count()) + " " +
           base::hex(static_cast<std::uint64_t>(record.clock)) + " " +
           std::to_string(record.votes_from.time_since_epoch().count());
}

std::optional<member_record> read_record(std::string_view text) {
    if (take_word(text) != version) return std::nullopt;
    auto const members = base::parse_number(take_word(text), UINT32_MAX);
    auto const digest = take_word(text);
    auto const lease = base::parse_number(take_word(text), INT32_MAX);
    auto const clock = base::parse_hex(take_word(text));
    auto const from = base::parse_number(take_word(text), INT64_MAX / 4);  // it is added to
    if (!members || !lease || !clock || !from || !text.empty()) return std::nullopt;
    member_record out;
    out.agreed = {*members, std::string{digest}, std::chrono::milliseconds{*lease}};
    out.clock = seam::clock_id{*clock};
    out.votes_from = seam::store_time{seam::store_clock::duration{*from}};
    return out;
}

// Stores keep the names of conditions apart from all others, and a quorum has no conditions.
seam::cell_key record_key() { return {lock_kind::condition, "holdfast quorum", "members"}; }

std::string disagreement_text(std::string const& member, agreement const& found,
                              agreement const& wanted) {
    std::string out = "the server " + member + " is a member of another quorum: ";
    if (found.members != wanted.members)
        return out + "one of " + std::to_string(found.members) + " servers, not of " +
               std::to_string(wanted.members);
    if (found.longest_lease != wanted.longest_lease)
        return out + "its clients have max_lease=" + std::to_string(found.longest_lease.count()) +
               "ms, not " + std::to_string(wanted.longest_lease.count()) +
               "ms; give all of them the same";
    return out +
           "its clients name other servers; give all of them the same addresses, in any order";
}

}  // namespace holdfast::stores::quorum
