#include "stores/redis/fault.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace holdfast::stores::redis {

namespace {

struct rule {
    std::string_view code;  ///< the first word of the server's error
    errc why;
    std::string_view words;
};

constexpr std::string_view needed_rights =
    "the user needs the rights of: ACL SETUSER <user> on ><password> ~<prefix>* &<prefix>client:* "
    "+@read +@write +@scripting +@pubsub +@connection +time +info +role";

constexpr std::string_view of_a_cluster =
    "is part of a cluster; a URL with redis:// or rediss:// is for one server, one with "
    "redis+cluster:// or rediss+cluster:// for a cluster";

constexpr std::array rules{
    rule{"LOADING", errc::store_unavailable, "is loading its data and will answer when it has"},
    rule{"BUSY", errc::store_unavailable, "is busy with a slow script of somebody"},
    rule{"MASTERDOWN", errc::store_unavailable,
         "is a replica that has lost its primary; name the primary in the store URL"},
    rule{"TRYAGAIN", errc::store_unavailable, "is moving keys and asks to try again"},
    rule{"CLUSTERDOWN", errc::store_unavailable, "is part of a cluster that is down"},
    rule{"NOREPLICAS", errc::store_unavailable,
         "has fewer replicas than its min-replicas-to-write asks for"},
    rule{"MISCONF", errc::store_unavailable,
         "cannot save its data and refuses to write; look at its disk and log"},
    rule{"READONLY", errc::store_unavailable,
         "is a read-only replica; name the primary in the store URL"},
    rule{"UNBLOCKED", errc::store_unavailable, "has become a replica of another"},
    rule{"OOM", errc::store_unavailable,
         "has no memory left under its maxmemory; raise maxmemory or free some"},
    rule{"NOAUTH", errc::access_denied,
         "wants a password; give it in the store URL, by the option 'passwordfile' or in the "
         "environment as HOLDFAST_REDIS_PASSWORD"},
    rule{"WRONGPASS", errc::access_denied,
         "does not take this user and password, or the user is "
         "switched off"},
    rule{"NOPERM", errc::access_denied, "does not allow this"},
    rule{"WRONGTYPE", errc::unsupported,
         "has a key of somebody else where this lock would live; choose another name, or another "
         "'prefix' in the store URL"},
    rule{"MOVED", errc::unsupported, of_a_cluster},
    rule{"ASK", errc::unsupported, of_a_cluster},
    rule{"CROSSSLOT", errc::unsupported, of_a_cluster},
};

// Errors of a script begin with ERR, or carry the code of what failed inside.
std::string_view code_of(std::string_view words) {
    if (words.starts_with('-')) words.remove_prefix(1);
    return words.substr(0, words.find(' '));
}

// Before Redis 7 the error of a command inside a script is wrapped into words about the script.
rule const* rule_for(std::string_view words) {
    auto const code = code_of(words);
    for (auto const& each : rules)
        if (each.code == code) return &each;
    for (auto const& each : rules)
        if (auto const at = words.find(each.code); at != std::string_view::npos && at > 0 &&
                                                   words.substr(0, 4) == "ERR " &&
                                                   (words[at - 1] == '-' || words[at - 1] == ' '))
            return &each;
    return nullptr;
}

std::string quoted(std::string_view words, settings const& of) {
    return base::quotable(words, of.password, 300);
}

}  // namespace

base::error explain(std::string_view words, settings const& of) {
    auto const told = " (Redis: " + quoted(words, of) + ")";
    auto const who = "the server " + of.shown() + " ";
    auto const* const found = rule_for(words);
    if (found == nullptr) {
        if (words.find("unauthenticated") != std::string_view::npos)
            return explain("NOAUTH " + std::string{words}, of);
        if (words.find("invalid password") != std::string_view::npos)
            return {errc::access_denied, who + "does not take this password" + told};
        if (words.find("without any password") != std::string_view::npos)
            return {errc::access_denied,
                    who + "has no password set, but the store URL gives one" + told};
        if (words.find("WAIT cannot be used with replica") != std::string_view::npos)
            return explain("UNBLOCKED " + std::string{words}, of);
        if (words.find("max number of clients") != std::string_view::npos)
            return {errc::store_unavailable, who + "has as many clients as it may" + told};
        return {errc::unsupported, who + "refused a request" + told};
    }
    auto text = who + std::string{found->words};
    if (found->code == "NOPERM") text += "; " + std::string{needed_rights};
    return {found->why, text + told};
}

base::error unreachable(std::string_view why, settings const& of) {
    return {errc::store_unavailable,
            "the server " + of.shown() + " cannot be reached: " + quoted(why, of)};
}

base::error never_heard(std::string_view why, settings const& of) {
    auto out = unreachable(why, of);
    if (!of.server.tls.on && !of.server.host.empty())
        out.text +=
            ", before it said anything; if it wants TLS, the store URL begins with rediss://";
    return out;
}

base::error no_handshake(settings const& of) {
    return unreachable("it takes the connection but does not answer TLS within " +
                           std::to_string(of.timeout.count()) +
                           " ms; if it has no TLS on this port, the store URL begins with redis://",
                       of);
}

std::optional<base::error> other_protocol(std::string_view bytes, settings const& of) {
    auto const who = "the server " + of.shown() + " ";
    if (bytes.starts_with("HTTP/") || bytes.starts_with('<'))
        return base::error{errc::store_unavailable,
                           who + "speaks HTTP, not Redis; check the port in the store URL"};
    // The records of TLS in which a server answers what it does not understand: an alert, a handshake.
    if (bytes.starts_with("\x15\x03") || bytes.starts_with("\x16\x03"))
        return base::error{errc::store_unavailable,
                           who + "speaks TLS on this port; the store URL begins with rediss://"};
    return std::nullopt;
}

std::optional<base::error> other_mode(std::string_view info, settings const& of) {
    if (of.kind != deployment::one_server) return std::nullopt;
    auto const shown = of.shown();
    auto const who = "the server " + shown + " ";
    // Of a socket it is not known where others find it.
    auto const at = of.server.host.empty() ? "://HOST:PORT" : shown.substr(shown.find("://"));
    auto const scheme = std::string{of.server.tls.on ? "rediss" : "redis"};
    if (info.find("redis_mode:sentinel") != std::string_view::npos)
        return base::error{errc::unsupported,
                           who + "is a Sentinel, which keeps no locks; the store URL is " + scheme +
                               "+sentinel" + at + "/MASTER-NAME"};
    if (info.find("redis_mode:cluster") != std::string_view::npos)
        return base::error{errc::unsupported, who + "is part of a cluster; the store URL is " +
                                                  scheme + "+cluster" + at};
    return std::nullopt;
}

base::error another_server(settings const& of) {
    return {errc::store_unavailable, "another server has come to answer at " + of.shown()};
}

base::error not_a_master(std::string_view role, settings const& of) {
    auto const who = "the server " + of.shown() + " is a ";
    if (role == "sentinel")
        return {errc::unsupported,
                who + "sentinel, which keeps no locks; write redis+sentinel://HOSTS/NAME"};
    auto const cure = of.kind == deployment::one_server ? "; name the primary in the store URL"
                                                        : "; its primary is looked for";
    return {errc::store_unavailable, who + "replica" + cure};
}

// The words of Redis 6.2, which wraps those of a command inside a script, and of Redis 7.
bool is_lasting(std::string_view words) noexcept {
    constexpr std::string_view known[] = {
        "NOPERM",         "no permissions",        "can't run this command",
        "nknown command", "nknown Redis command",  "nknown subcommand",
        "CROSSSLOT",      "Error compiling script"};
    return std::ranges::any_of(
        known, [&](auto each) { return words.find(each) != std::string_view::npos; });
}

}  // namespace holdfast::stores::redis
