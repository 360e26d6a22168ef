#include "stores/postgres/fault.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace holdfast::stores::postgres {

namespace {

struct rule {
    std::string_view state;  ///< the SQLSTATE, or how it begins
    errc why;
    std::string_view words;
};

constexpr std::array rules{
    rule{"28", errc::access_denied,
         "does not let this user in; give user and password in the store URL, or the password by "
         "the "
         "option 'passwordfile', PGPASSFILE or PGPASSWORD"},
    rule{"3D000", errc::store_unavailable,
         "has no such database; make it, or name another one in the store URL"},
    rule{"3F000", errc::store_unavailable,
         "has no such schema; make it, or choose another 'prefix' in the store URL"},
    rule{"42501", errc::access_denied,
         "does not allow this; the user may CREATE in the schema, or else somebody who may runs "
         "what "
         "'holdfast schema' prints, tables and rights"},
    rule{"42P01", errc::store_unavailable,
         "has lost the tables of holdfast, and with them all locks; they are made anew with the "
         "next "
         "connection"},
    rule{"42703", errc::unsupported,
         "has tables under this prefix that are not those of holdfast; choose another 'prefix' in "
         "the "
         "store URL"},
    rule{"25006", errc::store_unavailable, "takes no writes; name the primary in the store URL"},
    rule{"53300", errc::store_unavailable,
         "has as many connections as it may; raise max_connections, or lower the option "
         "'connections' "
         "of the store URL"},
    rule{"53100", errc::store_unavailable, "has no room left on its disk"},
    rule{"53", errc::store_unavailable, "lacks what it needs to answer"},
    rule{"57P03", errc::store_unavailable, "is starting or stopping and will answer when it has"},
    rule{"57P0", errc::store_unavailable, "has ended the connection"},
    rule{"57014", errc::store_unavailable,
         "has cancelled a request; look at its statement_timeout"},
    rule{"40", errc::store_unavailable, "has ended a transaction in favour of another"},
    rule{"23505", errc::store_unavailable,
         "has given out a number twice: its sequence was set back; it is asked for the next one"},
    rule{"55P03", errc::store_unavailable, "has not got a lock in time; look at its lock_timeout"},
    rule{"08", errc::store_unavailable, "has ended the connection"},
    rule{"58", errc::store_unavailable, "cannot read or write its files"},
};

std::string quoted(std::string_view words, settings const& of) {
    return base::quotable(words.substr(0, words.find("\nLOCATION:")), of.password, 400);
}

// "FATAL:  28P01: password authentication failed": a translated server has another first word.
std::string_view state_in(std::string_view words) {
    constexpr std::size_t length = 5;
    for (auto at = words.find(":  "); at != std::string_view::npos;
         at = words.find(":  ", at + 1)) {
        auto const found = words.substr(at + 3, length + 2);
        if (found.size() == length + 2 && found.substr(length) == ": " &&
            std::ranges::all_of(found.substr(0, length), [](char c) {
                return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
            }))
            return found.substr(0, length);
    }
    return {};
}

}  // namespace

base::error explain(std::string_view state, std::string_view words, settings const& of) {
    auto const told = " (PostgreSQL: " + quoted(words, of) + ")";
    auto const who = "the server " + of.server + " ";
    for (auto const& each : rules)
        if (state.starts_with(each.state)) return {each.why, who + std::string{each.words} + told};
    return {errc::unsupported, who + "refused a request" + told};
}

base::error unreachable(std::string_view words, settings const& of) {
    if (auto const state = state_in(words); !state.empty()) return explain(state, words, of);
    // libpq itself found no password to give.
    if (words.find("no password supplied") != std::string_view::npos)
        return explain("28P01", words, of);
    return {errc::store_unavailable,
            "the server " + of.server + " cannot be reached: " + quoted(words, of)};
}

base::error read_only(settings const& of) {
    return {errc::store_unavailable,
            "the server " + of.server +
                " is a standby and takes no writes; name the primary in the store URL"};
}

base::error other_version(std::int64_t found, std::int64_t ours, settings const& of) {
    return {errc::unsupported,
            "the tables at " + of.server + " have version " + std::to_string(found) +
                " and this holdfast knows version " + std::to_string(ours) +
                (found > ours ? "; use a newer holdfast, or"
                              : "; drop them when nobody uses them any more, or choose") +
                " another 'prefix' in the store URL"};
}

}  // namespace holdfast::stores::postgres
