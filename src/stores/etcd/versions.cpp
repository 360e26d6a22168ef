#include "stores/etcd/versions.hpp"

#include <array>

#include "base/text.hpp"

namespace holdfast::stores::etcd {

namespace {

struct line {
    std::uint64_t minor;
    std::uint64_t patch;  ///< the first that is good
};
constexpr std::array lines{line{4, 38}, line{5, 23}, line{6, 5}};

}  // namespace

bool keeps_promises(std::string_view version) {
    std::array<std::uint64_t, 3> parts{};
    for (auto& each : parts) {
        auto const end = version.find_first_not_of("0123456789");
        auto const number = base::parse_number(version.substr(0, end));
        if (!number) return true;  // a version of another kind: nothing is known against it
        each = *number;
        version.remove_prefix(end == std::string_view::npos ? version.size() : end + 1);
    }
    if (parts[0] != 3) return true;
    for (auto const& each : lines)
        if (each.minor == parts[1]) return parts[2] >= each.patch;
    return parts[1] > lines.back().minor;
}

std::string weak_version_words(std::string_view version, std::string_view where) {
    return "etcd " + std::string{version} + " at " + std::string{where} +
           " may end a lease before its time after a leader was stopped or cut off; use 3.4.38, "
           "3.5.23, 3.6.5 or later, "
           "and check tokens";
}

}  // namespace holdfast::stores::etcd
