// From when a lease counts: beside a model of how followers report to their leader, with a cut at any moment.
#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stores/zookeeper/living_session.hpp"
#include "support/contention.hpp"

namespace holdfast::stores::zookeeper {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

base::instant at(milliseconds time) { return base::instant{} + 1h + time; }

/// A holder whose follower is cut off from the leader at some moment. Times are milliseconds.
struct scene {
    explicit scene(std::uint64_t seed) : random{seed} {
        given = milliseconds{between(2'000, 40'000)};
        tick = milliseconds{between(100, given.count() / 8)};
        report_phase = milliseconds{between(0, tick.count())};
        cut = milliseconds{between(given.count(), 5 * given.count())};
    }

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>{low, high}(random);
    }

    /// When the follower next tells its leader who has spoken.
    [[nodiscard]] milliseconds report_after(milliseconds spoken) const {
        auto out = report_phase;
        while (out < spoken)
            out += tick;
        return out;
    }

    std::mt19937_64 random;
    milliseconds given{}, tick{}, report_phase{}, cut{};
};

/// By how much the holder's lease outlasts the leader's count, at worst: nothing, for a rule that is right. `began`: of the
/// lease, by a sign of life that was sent and confirmed at these times.
milliseconds excess(scene& of, milliseconds lease,
                    std::function<milliseconds(milliseconds, milliseconds)> const& began) {
    milliseconds counted = 0ms;  // the leader was asked when the connection began
    milliseconds lease_began = 0ms;
    auto const interval = of.given / 4;
    for (milliseconds sent = 1ms;;) {
        auto const confirmed = sent + milliseconds{of.between(1, 50)};
        if (confirmed >= of.cut) break;
        auto const heard = milliseconds{of.between(sent.count(), confirmed.count())};
        if (auto const report = of.report_after(heard); report < of.cut)
            counted = std::max(counted, report);
        lease_began = std::max(lease_began, began(sent, confirmed));
        sent = confirmed + milliseconds{of.between(1, interval.count())};
    }
    return lease_began + lease - (counted + of.given);
}

TEST(zookeeper_signs_of_life, a_lease_ends_before_the_leader_can_end_the_session) {
    auto const seed = support::seed_of_run();
    for (std::uint64_t turn = 0; turn < 3'000; ++turn) {
        scene of{seed + turn};
        signs_of_life signs{of.tick};
        signs.set_given(of.given);
        signs.note_counted(at(0ms));
        auto const worst = excess(of, signs.lease(), [&](auto sent, auto confirmed) {
            return std::chrono::floor<milliseconds>(signs.confirm(at(sent), at(confirmed)) -
                                                    at(0ms));
        });
        ASSERT_LE(worst, 0ms) << "seed " << seed + turn;
    }
}

/// The obvious rule, with a tick of margin, which this model must catch.
TEST(zookeeper_signs_of_life, the_last_confirmed_write_alone_is_not_enough) {
    milliseconds worst = -1h;
    for (std::uint64_t turn = 0; turn < 300; ++turn) {
        scene of{turn};
        auto const naive = of.given - of.tick;
        worst = std::max(worst, excess(of, naive, [](auto sent, auto) { return sent; }));
    }
    EXPECT_GT(worst, 0ms);
}

TEST(zookeeper_signs_of_life, the_time_out_that_is_asked_for_leaves_the_lease) {
    for (auto const lease : {100ms, 1'000ms, 30'000ms, 600'000ms})
        for (auto const tick : {10ms, 200ms, 2'000ms})
            EXPECT_GE(signs_of_life::lease_of(signs_of_life::time_out_for(lease, tick), tick),
                      lease);
}

TEST(zookeeper_signs_of_life, in_quiet_times_a_renewal_counts_from_when_it_was_sent) {
    signs_of_life signs{200ms};
    signs.set_given(8s);
    signs.note_counted(at(0ms));
    for (milliseconds now = 10ms; now < 30s; now += signs.interval())
        EXPECT_EQ(signs.confirm(at(now), at(now + 5ms)), at(now)) << now.count();
}

}  // namespace

}  // namespace holdfast::stores::zookeeper
