// The other way to a lock in order on MariaDB: its rules in procedures at the server, with the row of the name locked. For a
// mutex alone, with no lease, no session and no clean-up: what decision 44 weighed the packets against.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "base/random.hpp"
#include "mysql_wire.hpp"

namespace bench {

/// Takes turns by `bench_take` and `bench_give`; whoever waits asks for its letter every 2 ms. Not thread-safe.
class procedure_member {
public:
    explicit procedure_member(std::string const& url)
        : wire_{url}, claim_{std::to_string(holdfast::base::entropy() >> 1)} {}

    /// Once, before there are members.
    static void make(std::string const& url) {
        wire all{url};
        for (char const* const each : statements)
            (void)all.ask(each);
    }

    void lock() {
        auto const found = wire_.ask("CALL bench_take('bench/crowd'," + claim_ + ")");
        if (mysql::number_in(found.first()[0]) != 0) return;
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
            if (wire_.ask("SELECT token FROM bench_letter WHERE claim=" + claim_)
                    .results.at(0)
                    .empty())
                continue;
            // A write that is acknowledged: what was read before it is on the disk.
            (void)wire_.ask("DELETE FROM bench_letter WHERE claim=" + claim_);
            return;
        }
    }

    void unlock() { (void)wire_.ask("CALL bench_give('bench/crowd'," + claim_ + ")"); }

private:
    static constexpr char const* statements[] = {
        "CREATE SEQUENCE IF NOT EXISTS bench_token CACHE 1000",
        "CREATE TABLE IF NOT EXISTS bench_head (name VARBINARY(512) PRIMARY KEY, holder BIGINT "
        "UNSIGNED, token BIGINT UNSIGNED)",
        "CREATE TABLE IF NOT EXISTS bench_line (place BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, "
        "name VARBINARY(512), claim BIGINT UNSIGNED, INDEX (name, place))",
        "CREATE TABLE IF NOT EXISTS bench_letter (claim BIGINT UNSIGNED PRIMARY KEY, token BIGINT "
        "UNSIGNED)",
        "INSERT IGNORE INTO bench_head VALUES ('bench/crowd', NULL, NULL)",
        "CREATE OR REPLACE PROCEDURE bench_take(wanted VARBINARY(512), who BIGINT UNSIGNED) BEGIN "
        "DECLARE now_held BIGINT UNSIGNED; DECLARE drawn BIGINT UNSIGNED DEFAULT 0; "
        "START TRANSACTION; "
        "SELECT holder INTO now_held FROM bench_head WHERE name = wanted FOR UPDATE; "
        "IF now_held IS NULL THEN SET drawn = NEXTVAL(bench_token); "
        "UPDATE bench_head SET holder = who, token = drawn WHERE name = wanted; "
        "ELSE INSERT INTO bench_line (name, claim) VALUES (wanted, who); END IF; "
        "COMMIT; SELECT drawn; END",
        "CREATE OR REPLACE PROCEDURE bench_give(wanted VARBINARY(512), who BIGINT UNSIGNED) BEGIN "
        "DECLARE now_held BIGINT UNSIGNED; DECLARE next_claim BIGINT UNSIGNED; "
        "DECLARE next_place BIGINT UNSIGNED; DECLARE drawn BIGINT UNSIGNED; "
        "START TRANSACTION; "
        "SELECT holder INTO now_held FROM bench_head WHERE name = wanted FOR UPDATE; "
        "IF now_held = who THEN "
        "SET next_claim = (SELECT claim FROM bench_line WHERE name = wanted ORDER BY place LIMIT "
        "1); "
        "IF next_claim IS NULL THEN UPDATE bench_head SET holder = NULL WHERE name = wanted; "
        "ELSE SET drawn = NEXTVAL(bench_token); "
        "SET next_place = (SELECT place FROM bench_line WHERE name = wanted ORDER BY place LIMIT "
        "1); "
        "DELETE FROM bench_line WHERE place = next_place; "
        "UPDATE bench_head SET holder = next_claim, token = drawn WHERE name = wanted; "
        "INSERT INTO bench_letter VALUES (next_claim, drawn); END IF; END IF; "
        "COMMIT; SELECT now_held; END"};

    wire wire_;
    std::string const claim_;
};

}  // namespace bench
