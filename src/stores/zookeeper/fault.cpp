#include "stores/zookeeper/fault.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <zookeeper/zookeeper.h>

namespace holdfast::stores::zookeeper {

namespace {

struct rule {
    int code;
    errc why;
    std::string_view words;
    bool certain;
};

constexpr int quota_exceeded = -125;  ///< of servers that are newer than the library

constexpr std::array rules{
    rule{ZNOAUTH, errc::access_denied,
         "do not allow this: the nodes belong to another user; give the user and the password that "
         "made them in the store URL as user:password@host, or set the nodes' ACLs",
         true},
    rule{ZAUTHFAILED, errc::access_denied, "do not take this user and password", true},
    rule{ZINVALIDACL, errc::access_denied, "do not take the ACL of the nodes to be made", true},
    rule{ZUNIMPLEMENTED, errc::unsupported, "are not ZooKeeper 3.5 or later", true},
    rule{ZNOCHILDRENFOREPHEMERALS, errc::unsupported,
         "have a node of somebody else in the way; give the store URL a path of its own", true},
    rule{quota_exceeded, errc::store_unavailable,
         "have a quota on the store's path, and it is used up", true},
    rule{ZMARSHALLINGERROR, errc::unsupported,
         "take no more than 1 MB at once (jute.maxbuffer), and who holds this name, with their "
         "values, is more than that",
         true},
    rule{ZTHROTTLEDOP, errc::store_unavailable, "have more requests than they can take", true},
    rule{ZOPERATIONTIMEOUT, errc::store_unavailable, "did not answer in time", false},
    rule{ZSESSIONEXPIRED, errc::store_unavailable, "have ended the connection's session", false},
};

}  // namespace

fault judge(int code, bool sent, settings const& of) {
    if (code == ZOK) return {};
    auto const who = "the ZooKeeper servers at " + of.shown() + " ";
    auto const found = std::ranges::find(rules, code, &rule::code);
    if (found != rules.end())
        return {.error = {found->why, who + std::string{found->words}},
                .certain = found->certain || !sent};
    if (code == ZCONNECTIONLOSS || code == ZCLOSING)
        return {.error = {errc::store_unavailable,
                          who + (sent ? "did not answer: the connection was lost"
                                      : "cannot be reached, or no majority of them is there")},
                .certain = !sent};
    return {.error = {errc::store_unavailable,
                      who + "failed (ZooKeeper: " + std::string{zerror(code)} + ")"},
            .certain = !sent};
}

}  // namespace holdfast::stores::zookeeper
