// Servers that refuse: what a user of the library gets to see, and how soon.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "mysql/fixture.hpp"

namespace holdfast::mysql_faults {
namespace {

class refusal_test : public testing::Test {
protected:
    static mysql_server& server() {
        static mysql_server one;
        static bool const made = [] {
            one.ask(std::string{"CREATE USER app@'%' IDENTIFIED BY '"} + password +
                    "', guest@'%' IDENTIFIED BY '" + password +
                    "'; CREATE DATABASE locks; GRANT ALL ON locks.* TO app@'%'");
            return true;
        }();
        (void)made;
        return one;
    }
    static std::string login(std::string const& user, std::string const& word = password) {
        return server().url(user + ":" + word, "locks");
    }
    static void expect_lock(std::string const& url) {
        noting_client mine{url};
        EXPECT_TRUE(mutex(*mine, "q").try_lock());
    }
};

TEST_F(refusal_test, a_right_password_is_taken_from_each_of_its_places) {
    expect_lock(login("app"));
    support::temporary_directory const place;
    auto const bare = server().url("app", "locks");
    auto const file = (place.path() / "password").string();
    std::ofstream{file} << password << '\n';
    expect_lock(bare + "?passwordfile=" + file);
    ::setenv("MYSQL_PWD", password, 1);
    expect_lock(bare);
    ::unsetenv("MYSQL_PWD");
    auto const options = (place.path() / "my.cnf").string();
    std::ofstream{options} << "[client]\npassword=" << password << '\n';
    expect_lock(bare + "?optionfile=" + options);
    // The usual files are read as well: conformance.mysql_tls has its certificate from there.
    std::ofstream{options} << "[holdfast]\nuser=app\npassword=" << password << '\n';
    expect_lock("mysql://127.0.0.1:" + std::to_string(server().port()) +
                "/locks?optionfile=" + options);
}

TEST_F(refusal_test, a_unix_socket) {
    expect_lock("mysql://app:" + std::string{password} +
                "@localhost/locks?socket=" + server().socket());
}

TEST_F(refusal_test, a_wrong_password) {
    expect_refusal(login("app", "wrong"), errc::access_denied, "does not let this user in");
}

TEST_F(refusal_test, no_password) {
    expect_refusal(server().url("app", "locks"), errc::access_denied, "MYSQL_PWD");
}

TEST_F(refusal_test, no_such_database) {
    expect_refusal(server().url("root", "nowhere"), errc::store_unavailable,
                   "has no such database");
}

TEST_F(refusal_test, a_database_of_others) {
    expect_refusal(login("guest"), errc::access_denied, "use the database");
}

TEST_F(refusal_test, nobody_listens) {
    expect_refusal("mysql://app@127.0.0.1:1/locks", errc::store_unavailable, "cannot be reached");
}

TEST_F(refusal_test, a_user_who_may_not_create_tables) {
    server().ask("GRANT SELECT ON locks.* TO guest@'%'");
    expect_refusal(login("guest") + "?prefix=closed_", errc::access_denied, "may CREATE");
    server().ask("REVOKE SELECT ON locks.* FROM guest@'%'");
}

// As the words of the schema and docs/stores/mysql.md have them.
TEST_F(refusal_test, the_least_rights_are_enough) {
    expect_lock(login("app") + "?prefix=small_");
    for (auto const* const table : {"meta", "session", "head", "line", "ballot", "mail", "stamp"})
        server().ask(std::string{"GRANT SELECT, INSERT, UPDATE, DELETE ON locks.small_"} + table +
                     " TO guest@'%'");
    noting_client guest{login("guest") + "?prefix=small_"};
    noting_client other{login("guest") + "?prefix=small_"};
    auto held = mutex(*guest, "r").acquire();
    std::jthread const waits{[&] { (void)mutex(*other, "r").acquire(); }};
    EXPECT_TRUE(eventually([&] { return (*guest).locks("r").at(0).waiters.size() == 1; }));
    EXPECT_EQ(held.release(), release_outcome::released);
}

TEST_F(refusal_test, a_right_that_is_taken_away) {
    expect_lock(login("app") + "?prefix=taken_");
    for (auto const* const table : {"meta", "session", "line", "mail", "stamp"})
        server().ask(std::string{"GRANT SELECT, INSERT, UPDATE, DELETE ON locks.taken_"} + table +
                     " TO guest@'%'");
    expect_refusal(login("guest") + "?prefix=taken_", errc::access_denied, "does not allow this");
}

TEST_F(refusal_test, tables_of_a_later_version) {
    expect_lock(login("app") + "?prefix=later_");
    server().ask("UPDATE later_meta SET version = 99; ALTER SEQUENCE later_stamp RESTART 1",
                 "locks");
    expect_refusal(login("app") + "?prefix=later_", errc::unsupported, "have version 99");
    EXPECT_EQ(server().ask("SELECT next_not_cached_value FROM later_stamp", "locks"), "1\n")
        << "something was written into them";
}

TEST_F(refusal_test, tables_of_somebody_else) {
    server().ask("CREATE TABLE other_meta (x INT); CREATE SEQUENCE other_stamp", "locks");
    expect_refusal(login("app") + "?prefix=other_", errc::unsupported, "not those of holdfast");
}

TEST_F(refusal_test, a_server_that_takes_no_writes) {
    expect_lock(login("app") + "?prefix=writes_");
    noting_client mine{login("app") + "?prefix=writes_", 500ms};
    auto const held = mutex(*mine, "held", {.lease = 60s}).acquire();
    server().ask("SET GLOBAL read_only = 1");
    auto const found = failure_of([&] { mutex(*mine, "another").lock(); });
    EXPECT_EQ(found.code(), errc::store_unavailable) << found.what();
    EXPECT_NE(std::string{found.what()}.find("takes no writes"), std::string::npos) << found.what();
    EXPECT_TRUE(held.held());
    expect_refusal(login("app") + "?prefix=writes_", errc::store_unavailable, "takes no writes");
    // Also who would be let through: it may be a replica.
    expect_refusal(server().url("root", "locks"), errc::store_unavailable, "takes no writes");
    server().ask("SET GLOBAL read_only = 0");
    EXPECT_TRUE(eventually([&] {
        return failure_of([&] { (void)mutex(*mine, "another").acquire(); }).code() ==
               std::error_code{};
    }));
}

TEST_F(refusal_test, a_server_without_room_for_more_connections) {
    server().ask("ALTER USER app@'%' WITH MAX_USER_CONNECTIONS 1");
    {
        // One suffices.
        noting_client small{login("app") + "?prefix=room_"};
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 16; ++i)
            crowd.emplace_back([&, i] {
                for (int turn = 0; turn < 5; ++turn)
                    (void)mutex(*small, "q" + std::to_string(i)).acquire();
            });
        crowd.clear();
        auto const held = mutex(*small, "held").acquire();
        expect_refusal(login("app") + "?prefix=room_", errc::store_unavailable,
                       "limit for this user");
    }
    server().ask("ALTER USER app@'%' WITH MAX_USER_CONNECTIONS 0");
}

// The server itself, not what a user may have: error 1040.
TEST_F(refusal_test, a_server_that_has_all_the_connections_it_may_have) {
    constexpr auto most = 10U;  // fewer MariaDB does not take
    mysql_server const crowded{{.arguments = {"--max-connections=" + std::to_string(most)}}};
    crowded.ask(std::string{"CREATE USER app@'%' IDENTIFIED BY '"} + password +
                "'; GRANT ALL ON holdfast.* TO app@'%'");
    auto const url = crowded.url(std::string{"app:"} + password);
    std::vector<std::unique_ptr<noting_client>> all;
    std::vector<lease> held;
    // Each has a connection or two, so that not all come in.
    auto const come_in = [&] {
        auto& next = all.emplace_back(std::make_unique<noting_client>(url, 500ms));
        return failure_of(
            [&] { held.push_back(mutex(**next, std::to_string(all.size())).acquire()); });
    };
    auto refused = come_in();
    while (!refused.code() && all.size() <= most)
        refused = come_in();
    EXPECT_EQ(refused.code(), errc::store_unavailable);
    EXPECT_NE(std::string{refused.what()}.find("1040"), std::string::npos)
        << "the server's own words: " << refused.what();
    EXPECT_GT(held.size(), most / 3);
    expect_refusal(url, errc::store_unavailable, "max_connections");
    for (auto const& each : held)
        EXPECT_TRUE(each.held());
    held.clear();
    all.clear();
    EXPECT_TRUE(eventually([&] {
        return failure_of([&] {
                   (void)mutex{*noting_client{url}, "q"}.acquire();
               }).code() == std::error_code{};
    })) << "there is room again";
}

TEST_F(refusal_test, a_binary_log_of_statements) {
    mysql_server const logging{{.arguments = {"--log-bin=log", "--binlog-format=STATEMENT"}}};
    expect_refusal(logging.url(), errc::unsupported, "binlog_format");
}

// A library that asks for TLS gives no more than the server and the certificate allow.
TEST_F(refusal_test, tls_that_is_wanted_and_not_to_be_had) {
    expect_refusal(login("app") + "?sslmode=require", errc::store_unavailable, "TLS");
    mysql_server const secure{{.tls = true}};
    expect_lock(secure.url() + "?ca=" + secure.authority());
    expect_refusal(secure.url() + "?sslmode=verify-full", errc::store_unavailable, "TLS");
    mysql_server const other{{.tls = true}};
    expect_refusal(secure.url() + "?ca=" + other.authority(), errc::store_unavailable, "TLS");
    secure.ask("CREATE USER cautious@'%' REQUIRE SSL; GRANT ALL ON holdfast.* TO cautious@'%'");
    expect_lock(secure.url("cautious"));
    expect_refusal(secure.url("cautious") + "?sslmode=disable", errc::access_denied,
                   "does not let this user in");
}

// libmariadb would have the whole process ignore it.
TEST_F(refusal_test, what_the_program_does_with_sigpipe_stays) {
    struct sigaction before {};
    ::sigaction(SIGPIPE, nullptr, &before);
    expect_lock(login("app"));
    struct sigaction after {};
    ::sigaction(SIGPIPE, nullptr, &after);
    EXPECT_EQ(after.sa_handler, before.sa_handler);
}

}  // namespace
}  // namespace holdfast::mysql_faults
