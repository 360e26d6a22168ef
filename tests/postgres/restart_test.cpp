// Servers and connections that end while locks are held and waited for.
#include <atomic>
#include <thread>
#include <vector>

#include "postgres/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::postgres_faults {
namespace {

constexpr auto all_backends =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'";

TEST(restart_test, holds_and_waiters_outlive_a_crash_of_the_server) {
    postgres_server server;
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

TEST(restart_test, backends_that_are_terminated_again_and_again) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
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
        server.ask(all_backends);
        ASSERT_TRUE(eventually([&] { return turns > before + 3; })) << "nothing goes on";
    }
    done = true;
    crowd.clear();
}

// By the only connection that there may be: it has to be made anew.
TEST(restart_test, tables_that_are_dropped_are_made_anew) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    noting_client one{server.url() + "?connections=1", 5s};
    std::uint64_t before = 0;
    {
        auto const held = mutex(*one, "q").acquire();
        before = held.token();
    }
    server.ask(
        "DROP TABLE holdfast_meta, holdfast_session, holdfast_head, holdfast_line; DROP SEQUENCE "
        "holdfast_stamp");
    ASSERT_TRUE(eventually([&] {
        return failure_of([&] {
                   auto const held = mutex(*one, "q").try_acquire_for(1s);
                   if (!held) throw std::system_error{make_error_code(errc::timed_out)};
                   EXPECT_GT(held->token(), before);
               }).code() == std::error_code{};
    }));
}

TEST(restart_test, a_sequence_that_a_restore_has_set_back) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    std::uint64_t before = 0;
    {
        noting_client one{server.url()};
        before = mutex(*one, "q").acquire().token();
    }
    server.ask("SELECT setval('holdfast_stamp', 1); DELETE FROM holdfast_head");
    noting_client later{server.url()};
    EXPECT_GT(mutex(*later, "q").acquire().token(), before);
    EXPECT_GT(std::stoull(server.ask("SELECT last_value FROM holdfast_stamp")), 1'000'000U);
}

// Set back twice, it gives out places that are taken.
TEST(restart_test, a_place_in_the_line_that_is_drawn_twice_is_drawn_again) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    noting_client one{server.url()};
    noting_client other{server.url()};
    auto held = mutex(*one, "q").acquire();
    std::atomic<bool> served{false};
    std::jthread const waits{[&] { served = mutex(*other, "q").acquire().held(); }};
    ASSERT_TRUE(eventually([&] { return (*one).locks("q").at(0).waiters.size() == 1; }));
    for (auto const* const back : {"1", "2", "3"}) {
        server.ask(std::string{"SELECT setval('holdfast_stamp', (SELECT min(place) FROM "
                               "holdfast_line) - "} +
                   back + ")");
        noting_client third{server.url()};
        EXPECT_EQ(failure_of([&] { EXPECT_FALSE(mutex(*third, "q").try_acquire_for(2s)); }).code(),
                  std::error_code{})
            << back;
    }
    held.release();
    EXPECT_TRUE(eventually([&] { return served.load(); }));
}

TEST(restart_test, what_the_dead_left_is_swept_up) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    noting_client one{server.url()};
    (void)mutex(*one, "q").acquire();
    // Of a client that is no more.
    server.ask(
        "INSERT INTO holdfast_session VALUES (7, 1, 1000, 1, 'nobody', ''); INSERT INTO "
        "holdfast_line VALUES ('left', false, 1, '00000000000000000000000000000001', 7, ''); "
        "INSERT INTO holdfast_head (name, condition, stamp, body, sessions, bound) VALUES ('left', "
        "false, 1, 'x', '{7}', 7); INSERT INTO holdfast_head (name, condition, stamp, erased) "
        "VALUES "
        "('old', false, 1, 1); UPDATE holdfast_meta SET swept = 0");
    noting_client fresh{server.url()};
    auto const held = mutex(*fresh, "r", {.lease = 2s}).acquire();  // its renewals bring a sweep
    EXPECT_TRUE(eventually([&] {
        return server.ask("SELECT count(*) FROM holdfast_session WHERE id = 7") == "0\n" &&
               server.ask("SELECT count(*) FROM holdfast_line") == "0\n" &&
               server.ask(
                   "SELECT count(*) FROM holdfast_head WHERE name = 'old' OR (name = 'left' "
                   "AND body IS NOT NULL)") == "0\n";
    }));
}

// Whoever is let in while the connection for messages is made anew hears nothing of it, and its renewal is far away.
TEST(restart_test, grants_that_are_told_while_nobody_listens) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    std::atomic<bool> done{false};
    std::atomic<int> turns{0};
    std::vector<std::unique_ptr<noting_client>> clients;
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 3; ++i)
        clients.push_back(std::make_unique<noting_client>(server.url(), 60s));
    for (auto const& each : clients)
        crowd.emplace_back([&] {
            mutex mine{**each, "q", {.lease = 120s, .order = ordering::fair}};
            while (!done) {
                (void)mine.acquire();
                ++turns;
            }
        });
    for (int round = 0; round <= 10; ++round) {
        auto const before = turns.load();
        bool const go_on = eventually([&] { return turns > before + 10; });
        EXPECT_TRUE(go_on) << "nothing goes on";
        if (!go_on) break;
        server.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'holdfast' AND (query LIKE 'LISTEN%' OR query = 'SELECT 1')");
    }
    done = true;
}

// What was said on the connection for messages is lost, and no end says so. A renewal would find the grant much later.
TEST(restart_test, a_network_that_forgets_a_connection_delays_a_waiter_little) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    redis_faults::proxy network{server.port(), 1};
    noting_client holder{server.url()};
    // Silence is noticed by a question without an answer, here and then on a connection for requests.
    noting_client waiter{
        "postgres://postgres@127.0.0.1:" + std::to_string(network.port()) + "/postgres?timeout=1s",
        10s};
    auto held = mutex(*holder, "q", {.lease = 120s}).acquire();
    std::atomic<bool> got{false};
    std::jthread const waits{[&] {
        (void)mutex(*waiter, "q", {.lease = 120s}).acquire();
        got = true;
    }};
    // It may be listed before it is answered; so long afterwards it has been.
    ASSERT_TRUE(eventually([&] {
        auto const waiters = (*holder).locks("q").at(0).waiters;
        return waiters.size() == 1 && waiters.front().age >= 500ms;
    }));
    network.swallow();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(eventually([&] { return got.load(); }, 15s));
}

}  // namespace
}  // namespace holdfast::postgres_faults
