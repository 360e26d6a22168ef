#include "stores/etcd/fault.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"

namespace holdfast::stores::etcd {

namespace {

struct rule {
    std::string_view part;  ///< of etcd's own words
    errc why;
    std::string_view words;
    bool certain{true};
    bool disconnects{false};
};

constexpr std::array rules{
    rule{"invalid user ID or password", errc::access_denied,
         "does not take this user and password"},
    rule{"authentication is not enabled", errc::access_denied,
         "has no users, but the store URL gives one"},
    rule{"user name is empty", errc::access_denied,
         "wants a user and a password; give them in the store URL as user:password@host"},
    rule{"invalid auth token", errc::access_denied,
         "does not take the token of this user any more"},
    rule{"revision of auth store is old", errc::access_denied,
         "has changed its users or rights; try again"},
    rule{"permission denied", errc::access_denied,
         "does not allow this; the user needs a role with: etcdctl role grant-permission <role> "
         "--prefix=true readwrite <prefix>, where the prefix is holdfast/ unless the store URL has "
         "another one"},
    rule{"database space exceeded", errc::store_unavailable,
         "has no space left under its quota and refuses to write; compact and defragment it or "
         "raise "
         "--quota-backend-bytes, then: etcdctl alarm disarm"},
    rule{"too many requests", errc::store_unavailable, "has more requests than it can take"},
    rule{"request is too large", errc::unsupported,
         "takes no request of this size; see its --max-request-bytes"},
    rule{"requested lease not found", errc::store_unavailable,
         "knows nothing of this lease any more"},
    rule{"no leader", errc::store_unavailable,
         "has no leader: most members of its cluster are out of reach", false, true},
    rule{"leader changed", errc::store_unavailable, "has changed its leader meanwhile", false,
         false},
    rule{"request timed out", errc::store_unavailable,
         "got no majority of its cluster to agree in time", false, true},
    rule{"server stopped", errc::store_unavailable, "is being stopped", false, true},
};

std::string quoted(std::string_view words, settings const& of) {
    constexpr std::size_t most = 300;
    return base::quotable(words, of.password, most);
}

bool says_no(grpc::StatusCode code) {
    switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::OUT_OF_RANGE: return true;
    default: return false;
    }
}

}  // namespace

fault judge(grpc::Status const& status, std::string const& member, settings const& of) {
    if (status.ok()) return {};
    auto const& words = status.error_message();
    auto const who = "the etcd server " + member + " ";
    auto const told = " (etcd: " + quoted(words, of) + ")";
    bool const own_words = words.starts_with("etcdserver:");
    if (own_words) {
        auto const found = std::ranges::find_if(
            rules, [&](rule const& each) { return words.find(each.part) != std::string::npos; });
        if (found != rules.end())
            return {.error = {found->why, who + std::string{found->words} + told},
                    .certain = found->certain && says_no(status.error_code()),
                    .disconnects = found->disconnects,
                    .stale_token = found->part == "invalid auth token" ||
                                   found->part == "revision of auth store is old"};
        if (says_no(status.error_code()))
            return {.error = {errc::unsupported, who + "refused a request" + told},
                    .certain = true};
    }
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED)
        return {.error = {errc::unsupported, who + "is not an etcd of version 3.4 or later" + told},
                .certain = true};
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
        return {.error = {errc::store_unavailable, who + "did not answer in time"},
                .disconnects = true};
    bool const gone = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                      status.error_code() == grpc::StatusCode::CANCELLED;
    return {.error = {errc::store_unavailable,
                      who + (gone && !own_words ? "cannot be reached: " + quoted(words, of)
                                                : "failed" + told)},
            .disconnects = true};
}

fault not_sent(base::error why) { return {.error = std::move(why), .certain = true}; }

fault strange_answer() {
    return {
        .error = {errc::store_unavailable,
                  "a member gave an answer that etcd does not give; is there a proxy on the way "
                  "to it?"}};
}

base::error forked_error() {
    return {errc::unsupported,
            "this process was forked from one that used the etcd store, and gRPC does not survive "
            "that: "
            "start the child by exec, or use the store in one of the two processes only"};
}

}  // namespace holdfast::stores::etcd
