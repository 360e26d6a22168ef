#include "stores/mysql/fault.hpp"

#include <array>
#include <string>

#include "stores/sql/fault.hpp"

namespace holdfast::stores::mysql {

namespace {

struct rule {
    unsigned first, last;  ///< error numbers
    sql::trouble what;
};

constexpr std::array rules{
    rule{1045,
         1045,
         {errc::access_denied,
          "does not let this user in; give user and password in the store URL, or the password by "
          "the option 'passwordfile', an option file such as ~/.my.cnf, or MYSQL_PWD"}},
    rule{1698,
         1698,
         {errc::access_denied,
          "does not let this user in by a password; look at how the account is identified"}},
    rule{1251, 1251, {errc::access_denied, "wants another way to log in than this client knows"}},
    rule{1044,
         1044,
         {errc::access_denied,
          "does not let this user use the database; grant it rights, or name another one in the "
          "store URL"}},
    rule{1142, 1143, sql::troubles::no_right},
    rule{1227, 1227, {errc::access_denied, "does not allow this"}},
    rule{1049, 1049, sql::troubles::no_database},
    rule{no_such_table, no_such_table, sql::troubles::tables_lost},
    rule{4091,
         4091,
         {errc::store_unavailable,
          "has lost the sequence of holdfast; it is made anew with the next connection"}},
    rule{1054, 1054, sql::troubles::other_tables},
    rule{1241, 1241, sql::troubles::other_tables},
    rule{1040, 1040, sql::troubles::no_connection_left},
    rule{1203,
         1203,
         {errc::store_unavailable,
          "gives this user no more connections; raise its limit, or lower the option 'connections' "
          "of the store URL"}},
    rule{1226, 1226, {errc::store_unavailable, "has a limit for this user, which is reached"}},
    rule{1290, 1290, sql::troubles::read_only},
    rule{1792, 1792, sql::troubles::read_only},
    rule{1836, 1836, sql::troubles::read_only},
    rule{1021, 1021, sql::troubles::disk_full},
    rule{1114, 1114, {errc::store_unavailable, "has no room left for a table"}},
    rule{1026, 1026, {errc::store_unavailable, "cannot write its files"}},
    rule{1205, 1205, {errc::store_unavailable, "has not got a lock in time"}},
    rule{1020, 1020, sql::troubles::rolled_back},
    rule{1467, 1467, {errc::store_unavailable, "has not got a number for a row"}},
    rule{1213, 1213, sql::troubles::rolled_back},
    rule{1317, 1317, {errc::store_unavailable, "has ended a request at somebody's wish"}},
    rule{1969, 1969, {errc::store_unavailable, "has ended a request; look at max_statement_time"}},
    rule{1665,
         1665,
         {errc::unsupported,
          "writes a binary log of statements, which is not safe for these; set binlog_format to "
          "MIXED "
          "or ROW"}},
    rule{1153,
         1153,
         {errc::unsupported, "does not take so large a request; raise max_allowed_packet"}},
    rule{1053, 1053, {errc::store_unavailable, "is stopping"}},
    rule{1047, 1047, {errc::store_unavailable, "is a node that is not part of its cluster now"}},
    rule{1927, 1928, sql::troubles::disconnected},
    rule{2026,
         2026,
         {errc::store_unavailable,
          "cannot be reached by TLS; look at 'sslmode', 'ca' and the server's certificate"}},
    rule{2000, 2999, {errc::store_unavailable, "cannot be reached"}},
    rule{5000, 5999, {errc::store_unavailable, "cannot be reached"}},
};

}  // namespace

base::error explain(unsigned number, std::string_view words, settings const& of) {
    auto const told = std::to_string(number) + ": " + std::string{words};
    for (auto const& each : rules)
        if (number >= each.first && number <= each.last) return sql::explain(each.what, told, of);
    return sql::explain(sql::troubles::refused, told, of);
}

base::error explain_odd_answer(settings const& of) {
    return sql::explain({errc::unsupported,
                         "has answered in another way than MySQL and MariaDB do, or somebody has "
                         "changed the tables of holdfast; look at what stands between, and at what "
                         "'holdfast schema' prints"},
                        "", of);
}

}  // namespace holdfast::stores::mysql
