// The connection by which a client hears is ended and cannot come back, while those for its requests live on.
#include <string>

#include "postgres/fixture.hpp"

namespace holdfast::postgres_faults {
namespace {

TEST(deaf_test, an_evicted_holder_learns_it_by_its_renewals) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    server.ask("CREATE ROLE app LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO app");
    noting_client one{server.url("app") + "?connections=1", 20s};
    auto const held = mutex(*one, "q", {.lease = 3s}).acquire();
    noting_client operators{server.url(), 20s};
    server.ask("ALTER ROLE app CONNECTION LIMIT 1");
    server.ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app' AND (query "
        "LIKE 'LISTEN%' OR query = 'SELECT 1')");
    ASSERT_TRUE(eventually([&] {
        return server.ask("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'") == "1\n";
    }));
    EXPECT_EQ((*operators).evict("q"), 1U);
    auto const next = mutex(*operators, "q").try_acquire_for(20s);
    EXPECT_TRUE(next);
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }))
        << "two believe that they hold it";
}

TEST(deaf_test, who_waits_is_let_in_before_its_renewal) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    server.ask("CREATE ROLE app LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO app");
    noting_client one{server.url("app") + "?connections=1", 20s};
    (void)mutex(*one, "r").acquire();  // makes the tables, and is heard
    noting_client operators{server.url(), 20s};
    auto held = mutex(*operators, "q", {.lease = 120s}).acquire();
    server.ask("ALTER ROLE app CONNECTION LIMIT 1");
    server.ask(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app' AND (query "
        "LIKE 'LISTEN%' OR query = 'SELECT 1')");
    std::jthread const waiter{[&] {
        support::stopwatch const since;
        EXPECT_TRUE(mutex(*one, "q", {.lease = 120s}).try_acquire_for(60s));
        EXPECT_LT(since.elapsed(), 30s);  // its renewal comes after forty
    }};
    EXPECT_TRUE(
        eventually([&] { return server.ask("SELECT count(*) FROM holdfast_line") == "1\n"; }));
    EXPECT_EQ(held.release(), release_outcome::released);
}

}  // namespace
}  // namespace holdfast::postgres_faults
