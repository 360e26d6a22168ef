#include <algorithm>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class calls final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "calls"; }

    void completed(call_record const& it) override {
        if (it.completions > 1) fail(words(it) + " was completed twice");
        if (it.outcome == core::verdict::pending) fail(words(it) + " ended without an outcome");
        check_deadline(it, it.stalled_until);
        // Nothing went wrong in the whole run, or for long: there is no excuse.
        bool const clear = here().plan.faultless() ||
                           (here().calm && it.began > calm_since_ && here().plan.wild_clocks == 0);
        // A deadline of less than a few round trips may come before the store's answer. Where the store compares,
        // each conflict is a trip, and a client's requests on one name come one after the other.
        auto const count = here().plan.compares() ? 24 : 6;
        auto const trips = count * here().plan.latency_max + std::chrono::milliseconds{2};
        bool const hasty = it.deadline != moment::max() && it.deadline - it.began < trips;
        // A retry policy may end the wait after an attempt that took too long for such a lease.
        bool const tight = it.terms->retry && moment{it.terms->spec->lease} / 6 < trips;
        if (clear && !hasty && !tight && it.outcome == core::verdict::failed)
            fail(words(it) + " failed although nothing was wrong");
    }

    void tick() override {
        if (here().calm && calm_since_ == moment::max()) calm_since_ = here().time.now();
        for (auto const& home : here().clients) {
            if (!home->alive() || home->stopped()) continue;
            for (auto const& user : home->users)
                if (auto const* const who = user->pending()) check_pending(*who, *home);
        }
    }

private:
    static std::string words(call_record const& it) {
        return "call " + std::to_string(it.number) + " on '" + it.terms->spec->name + "'";
    }

    void check_deadline(call_record const& it, moment stalled_until) {
        if (it.deadline == moment::max() || here().plan.wild_clocks > 0) return;
        auto const slack = here().plan.timer_lateness + std::chrono::milliseconds{2};
        if (here().time.now() > std::max(it.deadline, stalled_until) + slack)
            fail(words(it) + " outlived its deadline");
    }

    void check_pending(call_record const& it, client const& home) {
        check_deadline(it, home.stopped_until());
        if (it.wait || it.deadline != moment::max()) return;
        // One attempt: it ends with the store's answer, or with the patience for a silent one.
        auto const& plan = here().plan;
        auto const quick = std::chrono::milliseconds{100} + 8 * plan.latency_max;
        auto const slow = plan.patience + plan.request_timeout + plan.spike_max + plan.stall_max;
        auto const bound = plan.faultless() ? quick : 2 * slow;
        if (here().time.now() - std::max(it.began, home.stopped_until()) > bound)
            fail(words(it) + " makes one attempt and does not end");
    }

    moment calm_since_{moment::max()};
};

}  // namespace

checker_ptr make_calls(world& where) { return std::make_unique<calls>(where); }

}  // namespace holdfast::simulation
