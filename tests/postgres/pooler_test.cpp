// pgbouncer in transaction mode: nothing is pushed, and everything works all the same.
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "postgres/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::postgres_faults {
namespace {

TEST(pooler_test, behind_a_pooler_waiters_ask_and_it_is_said) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    pgbouncer pooler{server};
    noting_client one{pooler.url()};
    noting_client other{pooler.url()};
    auto held = mutex(*one, "q").acquire();
    std::atomic<bool> got{false};
    std::jthread const waits{[&] {
        (void)mutex(*other, "q").acquire();
        got = true;
    }};
    ASSERT_TRUE(eventually([&] { return (*one).locks("q").at(0).waiters.size() == 1; }));
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(eventually([&] { return got.load(); }));
    EXPECT_TRUE(eventually([&] { return one.log().find("behind a pooler") != std::string::npos; }))
        << one.log();
}

// The pooler's connection would go on listening, and whoever gets it next would hear what is not meant for them.
TEST(pooler_test, nobody_listens_by_a_connection_that_others_get) {
    postgres_server server{{.arguments = {"-c", "fsync=off", "-c", "log_statement=all"}}};
    auto const logged = [&](char const* what) {
        std::ifstream in{server.directory() + "/log"};
        std::string const all{std::istreambuf_iterator<char>{in}, {}};
        return all.find(what) != std::string::npos;
    };
    pgbouncer pooler{server};
    noting_client pooled{pooler.url()};
    (void)mutex(*pooled, "q").acquire();
    EXPECT_TRUE(eventually([&] { return !pooled.log().empty(); }));
    EXPECT_TRUE(logged("holdfast_head"));
    EXPECT_FALSE(logged("LISTEN"));
    noting_client direct{server.url()};
    (void)mutex(*direct, "q").acquire();
    EXPECT_TRUE(logged("LISTEN"));
}

// Ten clients that each waited a second for a message of their own would be too slow.
TEST(pooler_test, nobody_waits_for_what_cannot_arrive) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    pgbouncer pooler{server};
    (void)mutex(*noting_client{pooler.url()}, "q").acquire();
    support::stopwatch const since;
    for (int i = 0; i < 10; ++i)
        (void)mutex(*noting_client{pooler.url()}, "q").acquire();
    EXPECT_LT(since.elapsed(), 8s);
}

// A pooler gives its connection to the next client when one has gone and the last answer seemed to be the end. Were
// more than one transaction on its way, the next client would get the answer to the other one.
TEST(pooler_test, clients_that_are_cut_off_do_not_confuse_others) {
    postgres_server server{{.arguments = {"-c", "fsync=off"}}};
    pgbouncer pooler{server};
    noting_client steady{pooler.url(), 30s};
    (void)mutex(*steady, "q").acquire();
    std::atomic<bool> done{false};
    std::vector<std::jthread> crowd;
    std::vector<std::unique_ptr<redis_faults::proxy>> networks;
    for (unsigned i = 0; i < 4; ++i) {
        networks.push_back(std::make_unique<redis_faults::proxy>(
            pooler.port(), i, redis_faults::odds{.lose_reply = 12}));
        crowd.emplace_back([&, i] {
            noting_client cut{"postgres://postgres@127.0.0.1:" +
                                  std::to_string(networks[i]->port()) + "/postgres?timeout=1s",
                              1s};
            while (!done) {
                auto const found = failure_of(
                    [&] { (void)mutex(*cut, "c" + std::to_string(i), {.lease = 2s}).acquire(); });
                if (found.code() && found.code() != errc::store_unavailable)
                    ADD_FAILURE() << found.what();
            }
        });
    }
    support::stopwatch const since;
    while (since.elapsed() < 10s) {
        auto const found = failure_of([&] {
            auto held = mutex(*steady, "q").acquire();
            EXPECT_EQ(held.release(), release_outcome::released);
        });
        EXPECT_EQ(found.code(), std::error_code{}) << found.what();
    }
    done = true;
}

}  // namespace
}  // namespace holdfast::postgres_faults
