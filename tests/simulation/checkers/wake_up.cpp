#include <map>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

// Looks only in calm times: a lost message may cost as much as the slow poll behind it.
class wake_up final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "wake-up"; }

    void tick() override {
        if ((!here().calm && !here().plan.faultless()) || here().plan.wild_clocks > 0) return;
        std::map<std::string, moment> idle;
        std::map<std::string, std::uint64_t> calls;
        for (auto const& home : here().clients) {
            if (!home->alive() || home->stopped()) continue;
            for (auto const& user : home->users) {
                auto const* const call = user->pending();
                // Whoever brought a retry policy waits as long as it says.
                if (call == nullptr || call->terms->retry) continue;
                auto const& name = call->terms->spec->name;
                if (!here().seen.holders(name, here().store.now()).empty()) continue;
                idle.emplace(name, here().time.now());
                calls[name] = call->number;
            }
        }
        for (auto& [name, since] : idle) {
            if (auto const before = idle_.find(name); before != idle_.end()) since = before->second;
            if (here().time.now() - since > bound())
                fail("'" + name + "' is free, and call " + std::to_string(calls[name]) +
                     " waits for it all the time");
        }
        idle_ = std::move(idle);
    }

    void granted(store_hold const& it, bool) override { idle_.erase(it.spec->name); }

private:
    // Without hand-over the poll of at most two seconds stands behind a notice.
    moment bound() {
        auto trips = 8 * here().plan.latency_max + std::chrono::milliseconds{100};
        // When the first in the line goes away during a minimum hold, the next one does not know when that
        // ends: it asks when it next shows that it is alive.
        if (here().plan.about != theme::locks) trips += moment{here().plan.lease_max} / 3;
        return here().plan.line ? trips : trips + std::chrono::milliseconds{2'500};
    }

    std::map<std::string, moment> idle_;
};

}  // namespace

checker_ptr make_wake_up(world& where) { return std::make_unique<wake_up>(where); }

}  // namespace holdfast::simulation
