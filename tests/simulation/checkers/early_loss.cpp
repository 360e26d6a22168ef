#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class early_loss final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "early loss"; }

    // From the end of its lease on, the store may give the name to another.
    void extended(store_hold const& it) override {
        if (!here().plan.within_fault_model()) return;
        here().time.at(here().store.when(it.expires), [this, id = it.id, end = it.expires] {
            auto const* const now = here().seen.hold(id);
            if (now == nullptr || now->kept || now->expires != end) return;
            refuse_belief(id, "its lease has ended at the store");
        });
    }

    void granted(store_hold const& fresh, bool) override {
        if (!here().plan.within_fault_model()) return;
        for (auto const& each : here().holds())
            if (each->claim != fresh.id && !each->forsaken &&
                conflicting(*each->terms->spec, *fresh.spec) && here().believed(*each))
                fail(who(*each) + " believes that it holds '" + fresh.spec->name +
                     "', which the store now grants to " + here().short_name(fresh.id));
    }

    void ended(store_hold const& it, store_end how) override {
        if (how == store_end::settled && here().plan.within_fault_model())
            refuse_belief(it.id, "it was released at the store");
        if (how == store_end::expired && here().plan.session && here().plan.within_fault_model())
            refuse_belief(it.id, "its session has ended at the store");
    }

    // A loss that nobody is told of protects nobody.
    void tick() override {
        constexpr auto patience = std::chrono::milliseconds{5};
        for (auto const& each : here().holds()) {
            auto& home = *here().clients[each->client];
            if (each->told || home.stopped() || here().believed(*each)) continue;
            auto const due = std::max(home.clock().when(each->grant->lost_at()), each->given);
            if (here().time.now() >
                std::max(due, home.stopped_until()) + here().plan.timer_lateness + patience)
                fail(who(*each) + " was not told that it has lost '" + each->terms->spec->name +
                     "'");
        }
    }

private:
    std::string who(local_hold const& it) {
        return "user " + std::to_string(it.user) + " of " +
               world::name_of(*here().clients[it.client]);
    }

    void refuse_belief(seam::claim_id id, char const* why) {
        for (auto const& each : here().holds())
            if (each->claim == id && !each->forsaken && here().believed(*each))
                fail(who(*each) + " believes that it holds '" + each->terms->spec->name +
                     "', but " + why);
    }
};

}  // namespace

checker_ptr make_early_loss(world& where) { return std::make_unique<early_loss>(where); }

}  // namespace holdfast::simulation
