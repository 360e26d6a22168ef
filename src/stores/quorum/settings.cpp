#include "stores/quorum/settings.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace holdfast::stores::quorum {

namespace {

constexpr std::string_view prefix = "quorum+";
constexpr std::string_view lease_option = "max_lease";
constexpr std::chrono::minutes usual_longest_lease{1};
constexpr std::chrono::milliseconds shortest_longest_lease{100};
constexpr std::chrono::hours longest_longest_lease{24};

[[noreturn]] void bad(std::string words) { base::raise(errc::bad_url, std::move(words)); }

std::uint16_t usual_port(std::string_view scheme) {
    if (scheme == "postgres") return 5432;
    if (scheme == "mysql") return 3306;
    return 6379;
}

// The same for all ways to write one address, unlike what the record of the quorum is made of.
std::string server_of(base::endpoint const& address, std::string_view scheme) {
    auto out = address.host;
    std::ranges::transform(out, out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out + ":" + std::to_string(address.port != 0 ? address.port : usual_port(scheme));
}

}  // namespace

settings settings::parse(base::url const& url) {
    settings out;
    auto const count = url.hosts.size();
    if (count != 3 && count != 5 && count != 7)
        bad("a quorum has 3, 5 or 7 members, not " + std::to_string(count) + ": " + url.scheme +
            "://host1:port,host2:port,host3:port; one more than an odd number outlives no more "
            "failures");
    out.longest_lease = url.duration_option(lease_option, usual_longest_lease);
    if (out.longest_lease < shortest_longest_lease || out.longest_lease > longest_longest_lease)
        bad("max_lease, the longest lease that a quorum gives, is from 100ms to 24h");
    std::set<std::string> servers;
    for (auto const& host : url.hosts) {
        auto member = url;
        member.scheme = url.scheme.substr(prefix.size());
        member.hosts = {host};
        member.options.erase(std::string{lease_option});
        auto address = host.host + (host.port != 0 ? ":" + std::to_string(host.port) : "");
        if (!servers.insert(server_of(host, member.scheme)).second)
            bad("the member " + address +
                " stands twice in the store URL: each has one vote, and must be a server of its "
                "own");
        out.addresses.push_back(std::move(address));
        out.members.push_back(std::move(member));
    }
    return out;
}

}  // namespace holdfast::stores::quorum
