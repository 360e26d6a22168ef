#include "stores/quorum/settings.hpp"

#include <algorithm>
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
    for (auto const& host : url.hosts) {
        auto member = url;
        member.scheme = url.scheme.substr(prefix.size());
        member.hosts = {host};
        member.options.erase(std::string{lease_option});
        auto address = host.host + (host.port != 0 ? ":" + std::to_string(host.port) : "");
        if (std::ranges::find(out.addresses, address) != out.addresses.end())
            bad("the member " + address +
                " stands twice in the store URL: each has one vote, and must be a server of its "
                "own");
        out.addresses.push_back(std::move(address));
        out.members.push_back(std::move(member));
    }
    return out;
}

}  // namespace holdfast::stores::quorum
