#include "stores/mysql/fault.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace holdfast::stores::mysql {

namespace {

struct rule {
    unsigned first, last;  ///< error numbers
    errc why;
    std::string_view words;
};

constexpr std::array rules{
    rule{1045, 1045, errc::access_denied,
         "does not let this user in; give user and password in the store URL, or the password by "
         "the option 'passwordfile', an option file such as ~/.my.cnf, or MYSQL_PWD"},
    rule{1698, 1698, errc::access_denied,
         "does not let this user in by a password; look at how the account is identified"},
    rule{1251, 1251, errc::access_denied, "wants another way to log in than this client knows"},
    rule{1044, 1044, errc::access_denied,
         "does not let this user use the database; grant it rights, or name another one in the "
         "store URL"},
    rule{1142, 1143, errc::access_denied,
         "does not allow this; the user may CREATE in the database, or else somebody who may runs "
         "what 'holdfast schema' prints, tables and rights"},
    rule{1227, 1227, errc::access_denied, "does not allow this"},
    rule{1049, 1049, errc::store_unavailable,
         "has no such database; make it, or name another one in the store URL"},
    rule{no_such_table, no_such_table, errc::store_unavailable,
         "has lost the tables of holdfast, and with them all locks; they are made anew with the "
         "next connection"},
    rule{4091, 4091, errc::store_unavailable,
         "has lost the sequence of holdfast; it is made anew with the next connection"},
    rule{1054, 1054, errc::unsupported,
         "has tables under this prefix that are not those of holdfast; choose another 'prefix' in "
         "the store URL"},
    rule{1040, 1040, errc::store_unavailable,
         "has as many connections as it may; raise max_connections, or lower the option "
         "'connections' of the store URL"},
    rule{1203, 1203, errc::store_unavailable,
         "gives this user no more connections; raise its limit, or lower the option 'connections' "
         "of the store URL"},
    rule{1226, 1226, errc::store_unavailable, "has a limit for this user, which is reached"},
    rule{1290, 1290, errc::store_unavailable,
         "takes no writes; name the one that does in the store URL"},
    rule{1792, 1792, errc::store_unavailable,
         "takes no writes; name the one that does in the store URL"},
    rule{1836, 1836, errc::store_unavailable,
         "takes no writes; name the one that does in the store URL"},
    rule{1021, 1021, errc::store_unavailable, "has no room left on its disk"},
    rule{1114, 1114, errc::store_unavailable, "has no room left for a table"},
    rule{1026, 1026, errc::store_unavailable, "cannot write its files"},
    rule{1205, 1205, errc::store_unavailable, "has not got a lock in time"},
    rule{1213, 1213, errc::store_unavailable, "has ended a transaction in favour of another"},
    rule{1317, 1317, errc::store_unavailable, "has ended a request at somebody's wish"},
    rule{1969, 1969, errc::store_unavailable, "has ended a request; look at max_statement_time"},
    rule{1665, 1665, errc::unsupported,
         "writes a binary log of statements, which is not safe for these; set binlog_format to "
         "MIXED "
         "or ROW"},
    rule{1153, 1153, errc::unsupported,
         "does not take so large a request; raise max_allowed_packet"},
    rule{1053, 1053, errc::store_unavailable, "is stopping"},
    rule{1047, 1047, errc::store_unavailable, "is a node that is not part of its cluster now"},
    rule{1927, 1928, errc::store_unavailable, "has ended the connection"},
    rule{2026, 2026, errc::store_unavailable,
         "cannot be reached by TLS; look at 'sslmode', 'ca' and the server's certificate"},
    rule{2000, 2999, errc::store_unavailable, "cannot be reached"},
    rule{5000, 5999, errc::store_unavailable, "cannot be reached"},
};

}  // namespace

base::error explain(unsigned number, std::string_view words, settings const& of) {
    constexpr std::size_t most = 400;
    auto told = of.without_password(words.substr(0, most));
    std::ranges::replace_if(
        told, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, ' ');
    told = " (" + std::to_string(number) + ": " + told + ")";
    auto const who = "the server " + of.server + " ";
    for (auto const& each : rules)
        if (number >= each.first && number <= each.last)
            return {each.why, who + std::string{each.words} + told};
    return {errc::unsupported, who + "refused a request" + told};
}

}  // namespace holdfast::stores::mysql
