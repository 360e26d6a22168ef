#include "stores/postgres/fault.hpp"

#include <algorithm>
#include <array>

#include "stores/sql/fault.hpp"

namespace holdfast::stores::postgres {

namespace {

struct rule {
    std::string_view state;  ///< the SQLSTATE, or how it begins
    sql::trouble what;
};

constexpr std::array rules{
    rule{"28",
         {errc::access_denied,
          "does not let this user in; give user and password in the store URL, or the password by "
          "the option 'passwordfile', PGPASSFILE or PGPASSWORD"}},
    rule{"3D000", sql::troubles::no_database},
    rule{"3F000",
         {errc::store_unavailable,
          "has no such schema; make it, or choose another 'prefix' in the store URL"}},
    rule{"42501", sql::troubles::no_right},
    rule{"42P01", sql::troubles::tables_lost},
    rule{"42703", sql::troubles::other_tables},
    rule{"25006", sql::troubles::read_only},
    rule{"53300", sql::troubles::no_connection_left},
    rule{"53100", sql::troubles::disk_full},
    rule{"53", {errc::store_unavailable, "lacks what it needs to answer"}},
    rule{"57P03", {errc::store_unavailable, "is starting or stopping and will answer when it has"}},
    rule{"57P0", sql::troubles::disconnected},
    rule{"57014",
         {errc::store_unavailable, "has cancelled a request; look at its statement_timeout"}},
    rule{"40", sql::troubles::rolled_back},
    rule{"23505",
         {errc::store_unavailable,
          "has given out a number twice: its sequence was set back; it is asked for the next one"}},
    rule{"55P03",
         {errc::store_unavailable, "has not got a lock in time; look at its lock_timeout"}},
    rule{"08", sql::troubles::disconnected},
    rule{"58", {errc::store_unavailable, "cannot read or write its files"}},
};

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
    auto const told = "PostgreSQL: " + std::string{words.substr(0, words.find("\nLOCATION:"))};
    for (auto const& each : rules)
        if (state.starts_with(each.state)) return sql::explain(each.what, told, of);
    return sql::explain(sql::troubles::refused, told, of);
}

base::error unreachable(std::string_view words, settings const& of) {
    if (auto const state = state_in(words); !state.empty()) return explain(state, words, of);
    // libpq itself found no password to give.
    if (words.find("no password supplied") != std::string_view::npos)
        return explain("28P01", words, of);
    return sql::explain({errc::store_unavailable, "cannot be reached"},
                        words.substr(0, words.find("\nLOCATION:")), of);
}

base::error read_only(settings const& of) {
    return sql::explain({errc::store_unavailable,
                         "is a standby and takes no writes; name the primary in the store URL"},
                        "", of);
}

}  // namespace holdfast::stores::postgres
