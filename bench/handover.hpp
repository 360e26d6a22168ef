// Fair hand-over between processes: what its programs have in common.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include <holdfast/holdfast.hpp>

#include "crowd.hpp"
#include "duel.hpp"

namespace bench {

/// Locks and unlocks by turns, until all is over.
template <class Lock>
void take_turns(Lock& lock, tally& all, int who) {
    ++all.ready;
    while (!all.over) {
        lock.lock();
        all.enter(who);
        all.leave();
        lock.unlock();
    }
}

inline crowd::member fair_mutex(std::string const& url) {
    return [url](tally& all, int who) {
        holdfast::client client{url};
        holdfast::mutex mutex{client, "bench/crowd", {.order = holdfast::ordering::fair}};
        client.ping();
        take_turns(mutex, all, who);
    };
}

/// In a second.
struct turn_rates {
    double acquired{0};
    double changes{0};
};

inline turn_rates measure_turns(int processes, std::chrono::milliseconds span,
                                crowd::member const& life) {
    crowd const all{processes, 1, life};
    all.settle_in();
    auto const acquired = all.acquired();
    auto const changes = all.changes();
    auto const took = seconds([&] { crowd::pause(span); });
    return {double(all.acquired() - acquired) / took, double(all.changes() - changes) / took};
}

/// Somebody who takes turns, and what a row says of it.
struct contender {
    std::string name;
    crowd::member life;
};

/// One row for each number of waiters.
inline void handover_duels(std::string const& store, std::span<int const> waiters,
                           contender const& ours, contender const& limit,
                           std::optional<double> goal) {
    constexpr int rounds = 5;
    constexpr std::chrono::milliseconds span{2'000};
    for (int const count : waiters) {
        auto const rate_of = [&](contender const& side) {
            // One more than the waiters: somebody holds.
            return bench::side{side.name,
                               [&] { return measure_turns(count + 1, span, side.life).changes; }};
        };
        auto const row = store + ": fair hand-over between processes, " + std::to_string(count) +
                         " of them waiting";
        duel(row.c_str(), rate_of(ours), rate_of(limit), rounds, goal);
    }
}

/// One line for tools/bench, which runs other libraries beside it: acquisitions and owner changes
/// per second.
inline void print_turns(std::string const& url, char const* processes, char const* seconds) {
    auto const found = measure_turns(std::atoi(processes), std::chrono::seconds{std::atoi(seconds)},
                                     fair_mutex(url));
    std::printf("%.0f %.0f\n", found.acquired, found.changes);
}

}  // namespace bench
