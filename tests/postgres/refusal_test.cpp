// Servers that refuse: what a user of the library gets to see, and how soon.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "postgres/documented_rights.hpp"
#include "postgres/fixture.hpp"

namespace holdfast::postgres_faults {
namespace {

class refusal_test : public testing::Test {
protected:
    static postgres_server& server() {
        static postgres_server one{
            {.arguments = {"-c", "fsync=off"}, .authentication = "scram-sha-256"}};
        static bool const made = [] {
            one.ask(std::string{"CREATE ROLE app LOGIN PASSWORD '"} + password +
                    "'; CREATE ROLE guest LOGIN PASSWORD '" + password +
                    "'; CREATE DATABASE locks; REVOKE ALL ON DATABASE locks FROM guest");
            one.ask("GRANT CREATE, USAGE ON SCHEMA public TO app", "locks");
            return true;
        }();
        (void)made;
        return one;
    }
    static std::string login(std::string const& user, std::string const& word = password) {
        return server().url(user + ":" + word, "locks");
    }
};

TEST_F(refusal_test, a_right_password_is_taken_from_each_of_its_places) {
    {
        noting_client by_url{login("app")};
        EXPECT_TRUE(mutex(*by_url, "q").try_lock());
    }
    support::temporary_directory const place;
    auto const bare = server().url("app", "locks");
    auto const file = (place.path() / "password").string();
    std::ofstream{file} << password << '\n';
    {
        noting_client by_file{bare + "?passwordfile=" + file};
        EXPECT_TRUE(mutex(*by_file, "q").try_lock());
    }
    ::setenv("PGPASSWORD", password, 1);
    {
        noting_client by_environment{bare};
        EXPECT_TRUE(mutex(*by_environment, "q").try_lock());
    }
    ::unsetenv("PGPASSWORD");
    auto const passfile = (place.path() / "pgpass").string();
    std::ofstream{passfile} << "*:*:*:app:" << password << '\n';
    std::filesystem::permissions(passfile, std::filesystem::perms{0600});
    ::setenv("PGPASSFILE", passfile.c_str(), 1);
    {
        noting_client by_passfile{bare};
        EXPECT_TRUE(mutex(*by_passfile, "q").try_lock());
    }
    ::unsetenv("PGPASSFILE");
}

TEST_F(refusal_test, a_wrong_password) {
    expect_refusal(login("app", "wrong"), errc::access_denied, "does not let this user in");
}

TEST_F(refusal_test, no_password) {
    expect_refusal(server().url("app", "locks"), errc::access_denied, "PGPASSWORD");
}

TEST_F(refusal_test, no_such_database) {
    expect_refusal(server().url(std::string{"app:"} + password, "nowhere"), errc::store_unavailable,
                   "has no such database");
}

TEST_F(refusal_test, nobody_listens) {
    expect_refusal("postgres://app@127.0.0.1:1/locks", errc::store_unavailable,
                   "cannot be reached");
}

TEST_F(refusal_test, a_user_who_may_not_create_tables) {
    server().ask("GRANT CONNECT ON DATABASE locks TO guest; CREATE SCHEMA IF NOT EXISTS closed");
    server().ask("CREATE SCHEMA IF NOT EXISTS closed; GRANT USAGE ON SCHEMA closed TO guest",
                 "locks");
    expect_refusal(login("guest") + "?prefix=closed.hf_", errc::access_denied, "may CREATE");
}

// Those of a quorum's member, the numbers of proposals, are in postgres.driver.
TEST_F(refusal_test, the_rights_of_the_page_are_enough) {
    {
        noting_client owner{login("app") + "?prefix=small_"};
        EXPECT_TRUE(mutex(*owner, "q").try_lock());
    }
    server().ask(
        "GRANT CONNECT ON DATABASE locks TO guest; GRANT USAGE ON SCHEMA public TO guest; " +
            documented_rights("small_", "guest"),
        "locks");
    noting_client guest{login("guest") + "?prefix=small_"};
    noting_client other{login("guest") + "?prefix=small_"};
    auto held = mutex(*guest, "r", {.lease = 3s}).acquire();
    std::jthread const waits{[&] { (void)mutex(*other, "r").acquire(); }};
    EXPECT_TRUE(eventually([&] { return (*guest).locks("r").at(0).waiters.size() == 1; }));
    EXPECT_EQ(held.renew(), lease_state::held);
    EXPECT_EQ(held.release(), release_outcome::released);
    latch done{*guest, "done", 1};
    done.count_down();
    EXPECT_TRUE(done.wait_for(3s));
    EXPECT_EQ(guest.log(), "");
    auto const thrown = mutex(*guest, "s").acquire();
    EXPECT_EQ((*other).evict("s"), 1U);
    EXPECT_TRUE(eventually([&] { return thrown.lost().stop_requested(); }));
}

TEST_F(refusal_test, tables_of_a_later_version) {
    {
        noting_client first{login("app") + "?prefix=later_"};
        EXPECT_TRUE(mutex(*first, "q").try_lock());
    }
    server().ask("UPDATE later_meta SET version = 99", "locks");
    expect_refusal(login("app") + "?prefix=later_", errc::unsupported, "have version 99");
}

TEST_F(refusal_test, tables_of_somebody_else) {
    server().ask(
        "CREATE TABLE other_meta (x integer); CREATE SEQUENCE other_stamp; "
        "GRANT ALL ON other_meta TO app; GRANT ALL ON SEQUENCE other_stamp TO app",
        "locks");
    expect_refusal(login("app") + "?prefix=other_", errc::unsupported, "not those of holdfast");
}

TEST_F(refusal_test, a_standby) {
    postgres_server const primary{{.arguments = {"-c", "fsync=off"}}};
    postgres_server const standby{
        {.arguments = {"-c", "fsync=off"},
         .standby_of = "host=127.0.0.1 user=postgres port=" + std::to_string(primary.port())}};
    expect_refusal(standby.url(), errc::store_unavailable, "is a standby");
    // Of several hosts the one that takes writes is used.
    noting_client both{"postgres://postgres@127.0.0.1:" + std::to_string(standby.port()) +
                       ",127.0.0.1:" + std::to_string(primary.port()) + "/postgres"};
    EXPECT_TRUE(mutex(*both, "q").try_lock());
}

TEST_F(refusal_test, a_server_without_room_for_more_connections) {
    server().ask("ALTER ROLE app CONNECTION LIMIT 2");
    {
        // Two suffice: one for everything, one to hear by.
        noting_client small{login("app") + "?prefix=room_"};
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 16; ++i)
            crowd.emplace_back([&, i] {
                for (int turn = 0; turn < 5; ++turn)
                    (void)mutex(*small, "q" + std::to_string(i)).acquire();
            });
        crowd.clear();
        EXPECT_EQ(small.log(), "") << "nothing is wrong as long as one is there";
        auto const held = mutex(*small, "held").acquire();
        expect_refusal(login("app") + "?prefix=room_", errc::store_unavailable, "max_connections");
    }
    server().ask("ALTER ROLE app CONNECTION LIMIT -1");
}

}  // namespace
}  // namespace holdfast::postgres_faults
