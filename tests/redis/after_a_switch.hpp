// What must hold after the server behind a store has changed, however that came about.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include "redis/fixture.hpp"
#include "support/process.hpp"

namespace holdfast::redis_faults {

/// A hold that a replica has is kept by the switch and handed over to somebody who waited before it.
template <class Switch>
void expect_handed_over_after(std::string const& url, Switch switch_master) {
    client mine{url};
    client other{url};
    auto held = mutex{mine, "b", {.lease = 60s}}.acquire();
    auto next = std::async(std::launch::async, [&] {
        return mutex{other, "b"}.try_acquire_for(60s).has_value();
    });
    EXPECT_TRUE(eventually([&] {
        auto const seen = mine.locks("b");
        return !seen.empty() && seen.front().waiters.size() == 1;
    }));
    switch_master();
    EXPECT_TRUE(eventually([&] { return held.renew() == lease_state::held; }))
        << held.loss_reason();
    EXPECT_EQ(held.release(), release_outcome::released);
    EXPECT_TRUE(next.get());
}

/// Processes that wait for one name, which somebody holds. Each has a short lease that is not renewed, and
/// some keep it to its end: the store cannot give it to another before that, and the holder must not believe longer.
class waiters_with_short_leases {
public:
    static constexpr std::chrono::seconds lease_time{3};
    static constexpr unsigned count = 6;

    /// They wait when it is made.
    waiters_with_short_leases(std::string const& url, client& observer, lease const& held) {
        tokens_.add(held.token());
        for (unsigned i = 0; i < count; ++i) {
            auto& one = processes_.emplace_back(
                std::vector<std::string>{HOLDFAST_TEST_WORKER, url, "60000"});
            one.send("acquire " + held.name() + " renew=no lease=" +
                     std::to_string(std::chrono::milliseconds{lease_time}.count()));
            served_.push_back(
                std::async(std::launch::async, [this, &one, i] { expect_hold(one, i % 3 == 0); }));
        }
        EXPECT_TRUE(eventually([&] {
            auto const seen = observer.locks(held.name());
            return !seen.empty() && seen.front().waiters.size() == count;
        }));
    }

    /// Each has had its turn, alone.
    void expect_all_served() {
        for (auto& one : served_)
            EXPECT_NO_THROW(one.get());
        EXPECT_EQ(only_one_.visits(), static_cast<long>(count));
    }

private:
    void expect_hold(support::process& it, bool to_the_end) {
        auto const said = it.read(60s);
        ASSERT_TRUE(said.starts_with("held ")) << said;
        tokens_.add(std::stoull(said.substr(5)));
        only_one_.visit();
        std::chrono::milliseconds const left{std::stoll(it.ask("remaining"))};
        EXPECT_LE(left, lease_time);
        if (to_the_end) {
            std::chrono::milliseconds const believed{std::stoll(it.ask("hold-on 10000"))};
            EXPECT_LE(believed, lease_time);
        }
        it.send("release");
    }

    room only_one_;
    rising_tokens tokens_;
    std::deque<support::process> processes_;
    std::vector<std::future<void>> served_;  ///< ends first
};

}  // namespace holdfast::redis_faults
