// From when a lease counts: beside a model of how followers report to their leader, with a cut at any moment.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "stores/zookeeper/living_session.hpp"
#include "support/contention.hpp"

namespace holdfast::stores::zookeeper {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

base::instant at(milliseconds time) { return base::instant{} + 1h + time; }

/// What one server sends to the other arrives in order, at times of the network's choice.
struct channel {
    milliseconds last{};

    milliseconds pass(milliseconds sent, milliseconds delay) {
        return last = std::max(last, sent + delay);
    }
};

/// A holder, its follower and the leader, until both servers are cut off from each other. Times are the holder's, in
/// milliseconds; the leader's clock runs faster or slower.
class scene {
public:
    /// When the lease begins by a sign of life that was sent and confirmed at these times.
    using rule = std::function<milliseconds(milliseconds, milliseconds)>;

    explicit scene(std::uint64_t seed) : random_{seed} {
        given = milliseconds{between(2'000, 40'000)};
        tick = milliseconds{between(100, given.count() / 8)};
        cut_ = milliseconds{between(given.count(), 5 * given.count())};
        rate_ = between(9'900, 10'100);
        slow_from_ = cut_ - milliseconds{between(0, given.count())};
        regular_ = between(0, 1) == 1;
    }

    /// By how much the holder's lease outlasts the leader's count: nothing, for a rule that is right. A holder ends its
    /// lease one part in a hundred early.
    milliseconds excess(milliseconds lease, milliseconds interval, rule const& began) {
        began_ = &began;
        interval_ = interval;
        at(by_leader(milliseconds{between(0, tick.count())}), [this] { ping(); });
        at(1ms, [this] { send_sign(); });
        while (!events_.empty()) {
            auto const next = events_.begin();
            now_ = next->first;
            auto const then = std::move(next->second);
            events_.erase(next);
            then();
        }
        return lease_began_ + lease - lease / 100 - (counted_ + by_leader(given));
    }

    milliseconds given{}, tick{};

private:
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>{low, high}(random_);
    }
    [[nodiscard]] milliseconds by_leader(milliseconds span) const { return span * 10'000 / rate_; }
    milliseconds delay() {
        bool const late = now_ >= slow_from_ && between(0, 3) == 0;
        return milliseconds{late ? between(1, given.count() / 3) : between(0, 10)};
    }
    void at(milliseconds when, std::function<void()> then) {
        if (when < cut_) events_.emplace(when, std::move(then));
    }

    // The leader pings twice a tick, and the answer says who has spoken since the last one.
    void ping() {
        at(to_follower_.pass(now_, delay()), [this] {
            if (!std::exchange(spoken_, false)) return;
            at(to_leader_.pass(now_, delay()), [this] { counted_ = now_; });
        });
        at(now_ + by_leader(tick / 2), [this] { ping(); });
    }

    // By way of the follower to the leader, where it counts for nothing, and back.
    void send_sign() {
        auto const sent = now_;
        at(now_ + milliseconds{between(0, 20)}, [this, sent] {
            spoken_ = true;
            at(to_leader_.pass(now_, delay()), [this, sent] {
                at(to_follower_.pass(now_, delay()), [this, sent] {
                    at(now_ + milliseconds{between(0, 20)}, [this, sent] { confirm(sent); });
                });
            });
        });
    }
    void confirm(milliseconds sent) {
        lease_began_ = std::max(lease_began_, (*began_)(sent, now_));
        auto const pause = regular_ ? interval_ : milliseconds{between(1, interval_.count())};
        at(std::max(now_, sent + pause), [this] { send_sign(); });
    }

    std::mt19937_64 random_;
    milliseconds cut_{}, interval_{}, now_{};
    milliseconds slow_from_{};  ///< the network, before it is cut
    std::int64_t rate_{};
    bool regular_{};  ///< signs of life
    rule const* began_{};
    std::multimap<milliseconds, std::function<void()>> events_;
    channel to_leader_, to_follower_;
    bool spoken_{false};  ///< the holder, since the follower last said so
    milliseconds counted_{}, lease_began_{};
};

milliseconds since_start(base::instant when) {
    return std::chrono::floor<milliseconds>(when - at(0ms));
}

TEST(zookeeper_signs_of_life, a_lease_ends_before_the_leader_can_end_the_session) {
    auto const seed = support::seed_of_run();
    for (std::uint64_t turn = 0; turn < 5'000; ++turn) {
        scene of{seed + turn};
        signs_of_life signs{of.tick};
        signs.set_given(of.given);
        signs.note_counted(at(0ms));  // the leader was asked when the connection began
        auto const worst =
            of.excess(signs.lease(), signs.interval(), [&](auto sent, auto confirmed) {
                return since_start(signs.confirm(at(sent), at(confirmed)));
            });
        ASSERT_LE(worst, 0ms) << "seed " << seed + turn;
    }
}

/// Rules that come to mind, which this model must catch.
TEST(zookeeper_signs_of_life, the_last_confirmed_write_alone_is_not_enough) {
    milliseconds worst = -1h;
    for (std::uint64_t turn = 0; turn < 300; ++turn) {
        scene of{turn};
        worst = std::max(worst, of.excess(of.given - of.tick, of.given / 4,
                                          [](auto sent, auto) { return sent; }));
    }
    EXPECT_GT(worst, 0ms);
}

TEST(zookeeper_signs_of_life, a_tick_before_the_last_confirmed_write_is_not_enough) {
    milliseconds worst = -1h;
    for (std::uint64_t turn = 0; turn < 20'000; ++turn) {
        scene of{turn};
        std::vector<std::pair<milliseconds, milliseconds>> signs;
        auto const margin = (of.given / 4 + 2 * of.tick) * 99 / 100;
        milliseconds counted = 0ms;
        auto const rule = [&](milliseconds sent, milliseconds confirmed) {
            for (auto const& [before, then] : signs)
                if (then + of.tick <= sent) counted = std::max(counted, before);
            signs.emplace_back(sent, confirmed);
            return std::min(sent, counted + margin);
        };
        worst = std::max(worst, of.excess(of.given - margin * 100 / 99, of.given / 4, rule));
    }
    EXPECT_GT(worst, 0ms);
}

TEST(zookeeper_signs_of_life, a_clock_that_runs_faster_at_the_leader_is_allowed_for) {
    signs_of_life signs{200ms};
    signs.set_given(20s);
    signs.note_counted(at(0ms));
    auto const began = signs.confirm(at(19s), at(19s));
    EXPECT_LE(since_start(began) + signs.lease() * 99 / 100, 19'800ms);
}

TEST(zookeeper_signs_of_life, the_time_out_that_is_asked_for_leaves_the_lease) {
    for (auto const lease : {100ms, 1'000ms, 30'000ms, 600'000ms})
        for (auto const tick : {10ms, 200ms, 2'000ms})
            EXPECT_GE(signs_of_life::lease_of(signs_of_life::time_out_for(lease, tick), tick),
                      lease);
}

TEST(zookeeper_signs_of_life, in_quiet_times_a_renewal_counts_from_when_it_was_sent) {
    for (auto const tick : {200ms, 1'000ms, 2'000ms})
        for (auto const lease : {2'000ms, 10'000ms, 30'000ms}) {
            signs_of_life signs{tick};
            signs.set_given(signs_of_life::time_out_for(lease, tick));
            signs.note_counted(at(0ms));
            for (milliseconds now = 10ms; now < 100s; now += signs.interval())
                EXPECT_EQ(signs.confirm(at(now), at(now + 5ms)), at(now)) << now.count();
        }
}

}  // namespace

}  // namespace holdfast::stores::zookeeper
