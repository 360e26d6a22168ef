#include "simulation/run.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "simulation/checkers/all.hpp"
#include "simulation/injectors.hpp"
#include "simulation/workload.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

void tick_for_ever(world& where) {
    constexpr milliseconds every{10};
    where.time.in(every, [&where] {
        where.tell([](checker& it) { it.tick(); });
        tick_for_ever(where);
    });
}

bool all_at_rest(world& where) {
    return std::ranges::all_of(where.clients, [](auto const& home) {
        return !home->alive() ||
               (std::ranges::all_of(home->users,
                                    [](auto const& each) { return each->at_rest(); }) &&
                std::ranges::all_of(home->parties,
                                    [](auto const& each) { return each->at_rest(); }));
    });
}

// What a fault began may outlive it by a lease and a request that was given up, at each of a few
// steps; a waiter that was forgotten finds out with its next sign of life.
moment aftermath(profile const& plan) {
    moment const longest = moment{plan.lease_max} * 5 / 2;
    return 2 * longest + 2 * moment{plan.request_timeout} + plan.spike_max + plan.stall_max +
           std::chrono::seconds{2};
}

// What stands behind a message that was lost in the last moment of chaos.
constexpr std::chrono::seconds slow_polls{10};

void wind_up(world& where) {
    for (auto const& home : where.clients) {
        for (auto const& each : home->users)
            each->retire();
        for (auto const& each : home->parties)
            each->retire();
    }
    auto const end = where.time.now() + std::chrono::seconds{120};
    while (!where.failed() && !all_at_rest(where) && where.time.now() < end)
        where.run_for(milliseconds{100});
    where.run_for(aftermath(where.plan));
    if (where.plan.about != theme::locks) where.run_for(slow_polls);
    if (!where.failed()) where.tell([](checker& it) { it.finished(); });
}

}  // namespace

run_result run_seed(std::uint64_t seed, variant const& which, trace_mode trace) {
    base::random draws{seed};
    auto const plan = draw_profile(draws, seed);
    world where{draws.next(), plan, which, trace};
    where.note([&] { return plan.text(); });
    add_all_checkers(where);
    for (std::size_t i = 0; i < plan.clients; ++i)
        add_working_client(where);
    inject(where);
    tick_for_ever(where);
    where.run_until(plan.chaos);
    where.note([] { return std::string{"faults are over"}; });
    heal(where);
    where.run_for(plan.faultless() ? moment{0} : aftermath(plan));
    where.calm = true;
    where.note([] { return std::string{"it is calm"}; });
    where.run_for(std::chrono::seconds{plan.about == theme::locks ? 1 : 4});
    where.note([] { return std::string{"nobody begins anything new"}; });
    wind_up(where);
    run_result out{where.failed(), plan.text(), where.time.steps()};
    out.digest = where.digest();
    for (auto const& home : where.clients) {
        out.holds += home->engine()->counters().grants;
        out.passes += home->engine()->counters().passes;
        out.losses += home->engine()->counters().losses;
    }
    return out;
}

std::string describe(std::uint64_t seed, run_result const& result) {
    if (!result.failed) return "seed " + std::to_string(seed) + ": all promises kept";
    auto const& it = *result.failed;
    char when[32];
    std::snprintf(when, sizeof when, "%.6f s", static_cast<double>(it.when.count()) / 1e9);
    return "seed " + std::to_string(seed) + ": " + it.checker + " at " + when + ": " + it.words +
           "\n  " + result.profile_words + "\n  see it with: build/dev/bin/tests/simulate --seed " +
           std::to_string(seed) + " --trace";
}

}  // namespace holdfast::simulation
