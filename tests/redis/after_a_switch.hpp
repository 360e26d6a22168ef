// What must hold after the server behind a store has changed, however that came about.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "redis/fixture.hpp"

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

/// Clients that wait in fair order for one name, which somebody holds. Each has a short lease that is not renewed, and
/// some keep it to its end: the store cannot give it to another before that, and the holder must not believe longer.
class waiters_with_short_leases {
public:
    static constexpr std::chrono::seconds lease_time{3};
    static constexpr unsigned count = 6;

    /// They wait when it is made.
    waiters_with_short_leases(std::string const& url, client& observer, lease const& held)
        : name_{held.name()} {
        tokens_.add(held.token());
        for (unsigned i = 0; i < count; ++i)
            all_.push_back(std::async(std::launch::async, [this, url, i] {
                client mine{url};
                wait_and_hold(mine, i % 3 == 0);
            }));
        EXPECT_TRUE(eventually([&] {
            auto const seen = observer.locks(name_);
            return !seen.empty() && seen.front().waiters.size() == count;
        }));
    }

    /// Each has had its turn, alone.
    void expect_all_served() {
        for (auto& one : all_)
            EXPECT_NO_THROW(one.get());
        EXPECT_EQ(only_one_.visits(), static_cast<long>(count));
    }

private:
    void wait_and_hold(client& mine, bool to_the_end) {
        mutex wanted{mine, name_, {.lease = lease_time, .renew = false}};
        auto got = wanted.try_acquire_for(60s);
        ASSERT_TRUE(got);
        EXPECT_LE(got->remaining(), lease_time);
        stopwatch const since;
        tokens_.add(got->token());
        only_one_.visit();
        if (to_the_end) {
            EXPECT_TRUE(eventually([&] { return !got->held(); }, 10s));
            EXPECT_LE(since.elapsed(), lease_time);
        }
        got->release();
    }

    std::string name_;
    room only_one_;
    rising_tokens tokens_;
    std::vector<std::future<void>> all_;  ///< ends first
};

}  // namespace holdfast::redis_faults
