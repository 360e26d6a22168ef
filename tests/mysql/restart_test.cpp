// Servers and connections that end while locks are held and waited for.
#include <atomic>
#include <sstream>
#include <thread>
#include <vector>

#include "mysql/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::mysql_faults {
namespace {

constexpr auto drop_all =
    "DROP TABLE holdfast_meta, holdfast_session, holdfast_head, holdfast_line, holdfast_mail; DROP "
    "SEQUENCE holdfast_stamp";

/// Ends the connections of all clients, or what they ask right now.
void kill_clients(mysql_server const& of, std::string const& what) {
    std::istringstream ids{
        of.ask("SELECT id FROM information_schema.processlist WHERE db = 'holdfast' AND id <> "
               "CONNECTION_ID()")};
    std::string all;
    for (std::string id; ids >> id;)
        try {
            of.ask("KILL " + what + " " + id);
        } catch (std::runtime_error const&) {  // it has gone by itself
        }
}

TEST(restart_test, holds_and_waiters_outlive_a_crash_of_the_server) {
    mysql_server server{{.durable = true}};
    noting_client one{server.url(), 20s};
    noting_client other{server.url(), 20s};
    auto held = mutex(*one, "q", {.lease = 20s}).acquire();
    std::atomic<std::uint64_t> second{0};
    std::jthread const waits{[&] {
        auto const mine = mutex(*other, "q", {.lease = 20s}).acquire();
        second = mine.token();
    }};
    ASSERT_TRUE(eventually([&] { return (*one).locks("q").at(0).waiters.size() == 1; }));
    server.kill();
    server.start();
    EXPECT_TRUE(
        eventually([&] { return failure_of([&] { (*one).ping(); }).code() == std::error_code{}; }));
    EXPECT_TRUE(held.held()) << held.loss_reason();
    EXPECT_EQ(second, 0U);
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(eventually([&] { return second != 0; }));
    EXPECT_GT(second, held.token());
}

// Connections, and requests that are under way.
TEST(restart_test, what_is_killed_again_and_again_goes_on) {
    mysql_server server;
    std::atomic<bool> done{false};
    std::atomic<int> inside{0};
    std::atomic<int> turns{0};
    std::atomic<std::uint64_t> highest{0};
    std::vector<std::jthread> crowd;
    std::vector<std::unique_ptr<noting_client>> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(std::make_unique<noting_client>(server.url(), 20s));
    for (int i = 0; i < 8; ++i)
        crowd.emplace_back([&, i] {
            mutex mine{**clients[static_cast<std::size_t>(i) % 4], "q", {.lease = 10s}};
            while (!done) {
                auto const held = mine.try_acquire_for(20s);
                if (!held) continue;
                EXPECT_EQ(++inside, 1);
                EXPECT_GT(held->token(), highest.exchange(held->token()));
                ++turns;
                --inside;
            }
        });
    for (int round = 0; round < 20; ++round) {
        auto const before = turns.load();
        kill_clients(server, round % 2 == 0 ? "CONNECTION" : "QUERY");
        EXPECT_TRUE(eventually([&] { return turns > before + 3; })) << "nothing goes on";
    }
    done = true;
    crowd.clear();
}

TEST(restart_test, tables_that_are_dropped_are_made_anew) {
    mysql_server server;
    noting_client one{server.url(), 5s};
    std::uint64_t before = 0;
    {
        auto const held = mutex(*one, "q").acquire();
        before = held.token();
    }
    server.ask(drop_all);
    ASSERT_TRUE(eventually([&] {
        return failure_of([&] {
                   auto const held = mutex(*one, "q").try_acquire_for(1s);
                   if (!held) throw std::system_error{make_error_code(errc::timed_out)};
                   EXPECT_GT(held->token(), before);
               }).code() == std::error_code{};
    }));
}

TEST(restart_test, a_sequence_that_a_restore_has_set_back) {
    mysql_server server;
    std::uint64_t before = 0;
    {
        noting_client one{server.url()};
        before = mutex(*one, "q").acquire().token();
    }
    server.ask("ALTER SEQUENCE holdfast_stamp RESTART 1; DELETE FROM holdfast_head");
    noting_client later{server.url()};
    EXPECT_GT(mutex(*later, "q").acquire().token(), before);
    EXPECT_GT(std::stoull(server.ask("SELECT next_not_cached_value FROM holdfast_stamp")),
              1'000'000U);
}

TEST(restart_test, what_the_dead_left_is_swept_up) {
    mysql_server server;
    noting_client one{server.url()};
    (void)mutex(*one, "q").acquire();
    // Of a client that is no more.
    server.ask(
        "INSERT INTO holdfast_session VALUES (7, 1, 1000, 1, ''); INSERT INTO holdfast_line (name, "
        "kind, claim, session, body) VALUES ('left', 0, '0123456789abcdef', 7, ''); INSERT INTO "
        "holdfast_head (name, kind, stamp, body, bound) VALUES ('left', 0, 1, 'x', 7); INSERT INTO "
        "holdfast_head (name, kind, stamp, erased) VALUES ('old', 0, 1, 1); INSERT INTO "
        "holdfast_mail (session, stamp, body) VALUES (7, 1, ''); UPDATE holdfast_meta SET swept = "
        "0");
    noting_client fresh{server.url()};
    auto const held = mutex(*fresh, "r", {.lease = 2s}).acquire();  // its renewals bring a sweep
    EXPECT_TRUE(eventually([&] {
        return server.ask(
                   "SELECT (SELECT count(*) FROM holdfast_session WHERE id = 7), (SELECT count(*) "
                   "FROM holdfast_line), (SELECT count(*) FROM holdfast_mail WHERE session = 7), "
                   "(SELECT count(*) FROM holdfast_head WHERE name = 'old' OR (name = 'left' AND "
                   "body IS NOT NULL))") == "0\t0\t0\t0\n";
    }));
}

// No end says so, and what was asked is not answered.
TEST(restart_test, a_network_that_forgets_a_connection_delays_a_waiter_little) {
    mysql_server server;
    redis_faults::proxy network{server.port(), 1};
    noting_client holder{server.url()};
    noting_client waiter{"mysql://root@127.0.0.1:" + std::to_string(network.port()) +
                         "/holdfast?timeout=1s"};
    auto held = mutex(*holder, "q", {.lease = 120s}).acquire();
    std::atomic<bool> got{false};
    std::jthread const waits{[&] {
        (void)mutex(*waiter, "q", {.lease = 120s}).acquire();
        got = true;
    }};
    ASSERT_TRUE(eventually([&] { return (*holder).locks("q").at(0).waiters.size() == 1; }));
    network.swallow();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(eventually([&] { return got.load(); }, 15s));
}

// The lock is not got in time once, and the step is sent again.
TEST(restart_test, rows_that_somebody_else_has_locked_for_a_while) {
    mysql_server server;
    noting_client one{server.url(), 20s};
    (void)mutex(*one, "q").acquire();
    std::jthread const locks{[&] {
        server.ask(
            "START TRANSACTION; SELECT COUNT(*) FROM holdfast_head FOR UPDATE; CREATE TEMPORARY "
            "TABLE t (x INT); SELECT SLEEP(8); COMMIT");
    }};
    ASSERT_TRUE(eventually([&] {
        return server.ask(
                   "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE "
                   "'SELECT SLEEP%'") == "1\n";
    }));
    support::stopwatch const since;
    EXPECT_TRUE(mutex(*one, "q").try_acquire_for(60s));
    EXPECT_GT(since.elapsed(), 1s) << "nothing was locked";
}

}  // namespace
}  // namespace holdfast::mysql_faults
