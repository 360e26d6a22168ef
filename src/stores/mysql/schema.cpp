#include "stores/mysql/schema.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::stores::mysql {

namespace {

constexpr std::string_view time_words = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))";

constexpr char const* end_of_table = ") ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=binary";

}  // namespace

std::string schema::filled(std::string_view text, bool rows) const {
    std::string out;
    out.reserve(text.size() + 1000);
    for (char const each : text) {
        switch (each) {
        case marks::prefix: out += prefix_; break;
        case marks::time: out += time_words; break;
        case marks::drawn:
            out.append(rows ? "CAST(LAST_INSERT_ID() AS SIGNED),"
                            : "NEXTVAL(" + prefix_ + "stamp),");
            out.append(time_words).append(" DIV 32");
            break;
        case marks::draw:
            if (rows) out += "INSERT INTO " + prefix_ + "stamp () VALUES ();";
            break;
        case marks::drawn_before:
            if (rows)
                out += "DELETE FROM " + prefix_ +
                       "stamp WHERE id<(SELECT * FROM (SELECT MAX(id) FROM " + prefix_ +
                       "stamp) m)-1000 LIMIT 10000;";
            break;
        default: out += each;
        }
    }
    return out;
}

std::string schema::greeting(std::int64_t lock_seconds) {
    auto const seconds = std::to_string(lock_seconds);
    return "SET SESSION autocommit=1,completion_type=0,sql_safe_updates=0,time_zone='+00:00',"
           "sql_mode='STRICT_TRANS_TABLES',innodb_lock_wait_timeout=" +
           seconds + ",lock_wait_timeout=" + seconds +
           // An error leaves a transaction open until its client says the next word: one that has stopped, or whose
           // network is gone, would keep its locks for hours.
           "/*M!100300 ,idle_transaction_timeout=" + seconds +
           // Earlier ones may have it as well, so its error is known, too.
           "*//*M!110402 ,innodb_snapshot_isolation=0*//*!80000 ,wait_timeout=60*/;SET SESSION "
           "TRANSACTION ISOLATION LEVEL READ COMMITTED;"
           // A server keeps its clock when it starts anew.
           "SELECT CONNECTION_ID(),^,CONV(LEFT(SHA1(CONCAT_WS('/',@@hostname,@@port,@@datadir,"
           "@@server_id)),15),16,10);"
           "SHOW VARIABLES WHERE Variable_name IN ('read_only','innodb_read_only','wsrep_on');"
           "SHOW GLOBAL STATUS LIKE 'Uptime'";
}

std::string schema::look(std::int64_t server_time, bool rows) {
    auto const stamp = std::to_string(server_time / 32);
    return "SELECT version FROM %meta;" +
           // A table of somebody else has more than one column, which is an error here.
           (rows ? "SELECT (SELECT * FROM %stamp LIMIT 0);INSERT IGNORE INTO %stamp (id) SELECT " +
                       stamp
                 : "SELECT SETVAL(%stamp," + stamp + ")") +  // never goes back
           " FROM %meta WHERE version=" +
           std::to_string(version) +
           // Each of them may be gone alone, or be somebody else's.
           ";SELECT s.generation,h.sessions,l.claim,m.stamp FROM %session s,%head h,%line l,%mail "
           "m "
           "LIMIT 0";
}

std::vector<std::string> schema::creation(bool rows, bool galera) {
    constexpr auto end = end_of_table;
    return {
        rows ? std::string{"CREATE TABLE IF NOT EXISTS %stamp (id BIGINT AUTO_INCREMENT PRIMARY "
                           "KEY"} +
                   end
             : std::string{"CREATE SEQUENCE IF NOT EXISTS %stamp"} +
                   (galera ? " INCREMENT BY 0" : ""),
        std::string{"CREATE TABLE IF NOT EXISTS %session (id BIGINT PRIMARY KEY, generation BIGINT "
                    "NOT NULL, lease BIGINT NOT NULL, expires BIGINT NOT NULL, body LONGBLOB NOT "
                    "NULL"} +
            end,
        std::string{"CREATE TABLE IF NOT EXISTS %head (name VARBINARY(512), kind TINYINT, stamp "
                    "BIGINT NOT NULL, announced BIGINT NOT NULL DEFAULT 0, body LONGBLOB, sessions "
                    "LONGBLOB, bound BIGINT, erased "
                    "BIGINT, PRIMARY KEY (name, kind)"} +
            end,
        std::string{"CREATE TABLE IF NOT EXISTS %line (place BIGINT AUTO_INCREMENT PRIMARY KEY, "
                    "name VARBINARY(512) NOT NULL, kind TINYINT NOT NULL, claim BINARY(16) NOT "
                    "NULL, session BIGINT NOT NULL, body LONGBLOB NOT NULL, UNIQUE (claim, name, "
                    "kind, session), KEY (name, kind, place), KEY (session)"} +
            end,
        std::string{"CREATE TABLE IF NOT EXISTS %mail (id BIGINT AUTO_INCREMENT PRIMARY KEY, "
                    "session BIGINT NOT NULL, stamp BIGINT NOT NULL, body LONGBLOB NOT NULL, KEY "
                    "(session)"} +
            end,
        ballots_creation(),
        std::string{"CREATE TABLE IF NOT EXISTS %meta (id TINYINT PRIMARY KEY, version INT NOT "
                    "NULL, swept BIGINT NOT NULL"} +
            end,
        "INSERT IGNORE INTO %meta (id, version, swept) VALUES (1, 1, 0)",
    };
}

std::vector<std::string> schema::repair(bool rows, bool galera) {
    auto out = creation(rows, galera);
    auto const sessions = std::ranges::find_if(
        out, [](auto const& each) { return each.find("%session ") != std::string::npos; });
    out.insert(
        std::next(sessions),
        // The columns are named so that a table of somebody else fails, and keeps what it has.
        "DELETE FROM %session WHERE generation IS NOT NULL AND lease IS NOT NULL AND "
        "expires IS NOT NULL AND body IS NOT NULL AND (SELECT COUNT(*) FROM "
        "information_schema.tables WHERE table_schema=DATABASE() AND table_name IN "
        "('%head','%line'))<2");
    return out;
}

std::string schema::ballots_creation() {
    return std::string{
               "CREATE TABLE IF NOT EXISTS %ballot (name VARBINARY(512), kind TINYINT, ballot "
               "BIGINT NOT NULL, granted BIGINT NOT NULL, PRIMARY KEY (name, kind)"} +
           end_of_table;
}

std::string schema::words() const {
    std::string out{"-- The tables of holdfast, version " + std::to_string(version) + ".\n"};
    auto const all = creation(false);
    // MySQL has no sequences: each server carries out the line that is meant for it.
    out += "/*M! " + all.front() + " */;\n/*!80000 " + creation(true).front() + " */;\n";
    for (auto each = all.begin() + 1; each != all.end(); ++each)
        out += *each + ";\n";
    return filled(out +
                      "-- For each user of the locks, in place of app:\n"
                      "-- GRANT SELECT, INSERT, UPDATE, DELETE ON %meta TO app;\n"
                      "-- and the same ON %stamp, %session, %head, %line, %mail, %ballot\n",
                  false);
}

}  // namespace holdfast::stores::mysql
