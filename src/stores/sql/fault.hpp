// What databases report, turned into errors that name the server and the cure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "stores/sql/settings.hpp"

namespace holdfast::stores::sql {

/// One kind of trouble, told in the same words whatever the database calls it. They follow the server's name.
struct trouble {
    errc why;
    std::string_view words;
};

namespace troubles {
inline constexpr trouble no_database{
    errc::store_unavailable, "has no such database; make it, or name another one in the store URL"};
inline constexpr trouble no_right{
    errc::access_denied,
    "does not allow this; the user may CREATE in the database or schema, or else somebody who may "
    "runs what 'holdfast schema' prints, tables and rights"};
inline constexpr trouble tables_lost{
    errc::store_unavailable,
    "has lost the tables of holdfast, and with them all locks; they are made anew with the next "
    "connection"};
inline constexpr trouble other_tables{
    errc::unsupported,
    "has tables under this prefix that are not those of holdfast; choose another 'prefix' in the "
    "store URL"};
inline constexpr trouble read_only{
    errc::store_unavailable,
    "takes no writes; name the one that does, the primary, in the store URL"};
inline constexpr trouble no_connection_left{errc::store_unavailable,
                                            "has as many connections as it may; raise "
                                            "max_connections, or lower the option 'connections' of "
                                            "the store URL"};
inline constexpr trouble disk_full{errc::store_unavailable, "has no room left on its disk"};
inline constexpr trouble rolled_back{errc::store_unavailable,
                                     "has ended a transaction in favour of another"};
inline constexpr trouble disconnected{errc::store_unavailable, "has ended the connection"};
inline constexpr trouble refused{errc::unsupported, "refused a request"};
}  // namespace troubles

/// `told`: the server's own words, which are kept, without the password.
[[nodiscard]] base::error explain(trouble const& what, std::string_view told, settings const& of);

/// The tables were made by another version of holdfast.
[[nodiscard]] base::error other_version(std::int64_t found, std::int64_t ours, settings const& of);

}  // namespace holdfast::stores::sql
