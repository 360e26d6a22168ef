// A profile: what one run is made of, drawn from its seed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "simulation/theme.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

/// What kind of store it is. The last two compare: the rules run in the clients, on a server with a clock of its own or
/// without one.
enum class store_family { rules_at_the_store, compare_with_clock, compare_without_clock };

/// Chances are per 10,000 messages, counts are per run.
struct profile {
    theme about{theme::locks};

    // The network.
    moment latency_min{std::chrono::microseconds{50}};
    moment latency_max{std::chrono::milliseconds{2}};
    bool reorder{false};
    unsigned drop{0};
    unsigned silent_drop{5'000};  ///< of the drops: those of which the client is not told
    unsigned duplicate{0};        ///< carried out, reply lost, carried out again
    unsigned spike{0};
    moment spike_max{0};
    unsigned stalled_notice{0};
    moment stall_max{0};
    int cuts{0};
    int partitions{0};

    // The store.
    bool line{true};
    bool in_process{false};  ///< answers at once, and lets clients put holds aside
    int silences{0};
    int restarts{0};       ///< empty, at a later time of the wall clock
    int soft_restarts{0};  ///< keeping its state: only the connections end
    int evictions{0};
    int store_jumps{0};    ///< outside the fault model
    std::size_t lanes{1};  ///< servers, each with a clock of its own
    int clock_changes{0};  ///< another server comes to stand behind a lane

    /// Claims end with their client's session, whose lease the store chooses: the one asked for rounded up to
    /// a multiple of `session_step`, or cut down to `session_most`.
    bool session{false};
    std::chrono::milliseconds session_least{0};
    std::chrono::milliseconds session_step{0};
    std::chrono::milliseconds session_most{0};

    store_family family{store_family::rules_at_the_store};
    bool polls{false};  ///< a store that compares: nothing is pushed
    std::uint32_t letter_bytes{8'000};
    int forgeries{0};  ///< letters from somebody who does not know the secrets of claims

    // The clients.
    std::size_t clients{2};
    std::size_t users{3};
    std::size_t names{1};
    std::int64_t drift{9'900};  ///< parts per million, at most
    int pauses{0};
    int kills{0};
    int closes{0};
    int wild_clocks{0};  ///< outside the fault model
    moment timer_lateness{std::chrono::microseconds{200}};
    std::chrono::milliseconds request_timeout{3'000};
    std::chrono::milliseconds patience{10'000};

    // The work.
    std::chrono::milliseconds lease_min{50};
    std::chrono::milliseconds lease_max{3'000};
    bool mixed_kinds{false};  ///< readers and permits as well
    bool options{true};       ///< draws the rarer options too
    bool fair_only{false};
    int crowd{0};  ///< at a buffer: 0 many consumers, 1 a single one, 2 one among fickle ones

    moment chaos{std::chrono::seconds{6}};

    /// How long the store lets a claim last without a sign of life.
    [[nodiscard]] std::chrono::milliseconds given(std::chrono::milliseconds asked) const noexcept {
        if (!session) return asked;
        if (session_step.count() > 0)
            asked =
                (asked + session_step - std::chrono::milliseconds{1}) / session_step * session_step;
        if (session_most.count() > 0) asked = std::min(asked, session_most);
        return std::max(asked, session_least);
    }
    [[nodiscard]] bool compares() const noexcept {
        return family != store_family::rules_at_the_store;
    }
    /// Whether the promises that depend on honest clocks are to be kept.
    [[nodiscard]] bool within_fault_model() const noexcept {
        return store_jumps == 0 && wild_clocks == 0;
    }
    [[nodiscard]] bool faultless() const noexcept {
        return drop + duplicate + spike + stalled_notice == 0 &&
               cuts + partitions + silences + restarts + soft_restarts + evictions + store_jumps +
                       pauses + kills + closes + wild_clocks + clock_changes ==
                   0;
    }
    /// Whether messages arrive and stores stay: clients may still die.
    [[nodiscard]] bool only_deaths() const noexcept {
        auto alive = *this;
        alive.kills = alive.closes = 0;
        return alive.faultless();
    }
    [[nodiscard]] std::string text() const;
};

/// A swarm: each run has some faults and not others, so that none hides another.
[[nodiscard]] profile draw_profile(base::random& random, std::uint64_t seed);

}  // namespace holdfast::simulation
