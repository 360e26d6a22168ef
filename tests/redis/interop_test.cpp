// The plain layout beside clients of others, in both directions, as holder and as waiter. Each of them
// is a process with a library of others, see interop/.
#include <fstream>
#include <memory>

#include "redis/fixture.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis_faults {
namespace {

/// A client of others and how to start it, for a server's port.
struct stranger {
    char const* name;
    std::vector<std::string> (*command)(std::string const& port);
};

std::vector<std::string> redis_py(std::string const& port) {
    return {"/usr/bin/python3", "-B", HOLDFAST_TEST_INTEROP "/redis_py_worker.py", port};
}

std::vector<std::string> redlock(std::string const& port) {
    return {"/usr/bin/env", "node", HOLDFAST_TEST_INTEROP "/redlock_worker.mjs", port,
            HOLDFAST_TEST_MODULES};
}

class interop_test : public ::testing::TestWithParam<stranger> {
protected:
    [[nodiscard]] std::unique_ptr<support::process> meet() const {
        return std::make_unique<support::process>(
            GetParam().command(std::to_string(server_.port())));
    }

    [[nodiscard]] bool is_taken() const { return server_.ask({"EXISTS", "orders"}) == "1"; }

    redis_server server_;
    client mine_{server_.url() + "?layout=plain"};
    mutex orders_{mine_, "orders"};
    std::unique_ptr<support::process> theirs_{meet()};
};

INSTANTIATE_TEST_SUITE_P(strangers, interop_test,
                         ::testing::Values(stranger{"redis_py", redis_py},
                                           stranger{"redlock", redlock}),
                         [](auto const& of) { return std::string{of.param.name}; });

TEST_P(interop_test, what_they_hold_we_do_not_get_until_they_let_go) {
    ASSERT_EQ(theirs_->ask("take orders 60000"), "held");
    EXPECT_FALSE(orders_.try_acquire());
    EXPECT_FALSE(orders_.try_acquire_for(50ms));
    EXPECT_EQ(mine_.evict("orders"), 0U) << "what others hold is spared";
    auto waiting = std::async(std::launch::async, [&] { return orders_.acquire(); });
    EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
    EXPECT_EQ(theirs_->ask("extend 60000"), "extended");
    EXPECT_EQ(theirs_->ask("release"), "released");
    ASSERT_EQ(waiting.wait_for(support::patience), std::future_status::ready);
    auto held = waiting.get();
    EXPECT_TRUE(held.held());
    EXPECT_EQ(theirs_->ask("try orders 60000"), "busy");
    EXPECT_EQ(held.release(), release_outcome::released);
}

TEST_P(interop_test, what_we_hold_they_do_not_get_until_we_let_go) {
    auto held = mutex{mine_, "orders", {.lease = 900ms}}.acquire();
    EXPECT_EQ(theirs_->ask("try orders 60000"), "busy");
    theirs_->send("take orders 60000");
    EXPECT_TRUE(throughout(2s, [&] { return held.held(); })) << "renewed over their tries";
    auto const first = held.token();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_EQ(theirs_->read(), "held");
    EXPECT_FALSE(orders_.try_acquire());
    EXPECT_EQ(theirs_->ask("release"), "released");
    auto again = orders_.try_acquire_for(support::patience);
    ASSERT_TRUE(again);
    EXPECT_GT(again->token(), first);
}

TEST_P(interop_test, what_they_let_expire_is_ours) {
    ASSERT_EQ(theirs_->ask("take orders 400"), "held");
    auto held = orders_.try_acquire_for(support::patience);
    ASSERT_TRUE(held);
    EXPECT_EQ(theirs_->ask("extend 60000"), "not ours");
    (void)theirs_->ask("release");  // node-redlock takes a lock that has gone for released
    EXPECT_EQ(held->renew(), lease_state::held) << "their release is not ours";
    EXPECT_EQ(held->release(), release_outcome::released);
    EXPECT_FALSE(is_taken());
}

TEST_P(interop_test, what_we_let_expire_is_theirs) {
    auto held = mutex{mine_, "orders", {.lease = 400ms, .renew = false}}.acquire();
    ASSERT_EQ(theirs_->ask("take orders 60000"), "held");
    EXPECT_EQ(held.state(), lease_state::lost);
    EXPECT_TRUE(held.lost().stop_requested()) << "told before they could have it";
    EXPECT_EQ(held.release(), release_outcome::already_lost);
    EXPECT_TRUE(is_taken()) << "our release is not theirs";
    EXPECT_EQ(theirs_->ask("release"), "released");
}

TEST_P(interop_test, all_of_us_count_together) {
    support::temporary_directory const place;
    auto const path = (place.path() / "counter").string();
    std::ofstream{path} << 0 << '\n';
    constexpr int times = 40;
    auto const task = "count orders " + path + " " + std::to_string(times);
    auto const more = meet();
    theirs_->send(task);
    more->send(task);
    all_at_once(2, [&](unsigned) {
        client one{server_.url() + "?layout=plain"};
        mutex shared{one, "orders"};
        for (int i = 0; i < times; ++i) {
            std::lock_guard const guard{shared};
            long value = 0;
            std::ifstream{path} >> value;
            std::ofstream{path} << value + 1 << '\n';
        }
    });
    EXPECT_EQ(theirs_->read(60s), "done");
    EXPECT_EQ(more->read(60s), "done");
    long value = 0;
    std::ifstream{path} >> value;
    EXPECT_EQ(value, 4 * times);
    EXPECT_EQ(theirs_->finish(), 0);
    EXPECT_EQ(more->finish(), 0);
}

}  // namespace
}  // namespace holdfast::redis_faults
