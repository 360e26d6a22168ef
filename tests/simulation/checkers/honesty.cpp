#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class honesty final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "honesty"; }

    void answered(local_hold const& it, release_outcome outcome) override {
        if (!here().plan.within_fault_model() || here().forsaken(it.claim)) return;
        auto const& name = it.terms->spec->name;
        bool const in_time =
            it.at_release == lease_state::held || it.at_release == lease_state::in_doubt;
        auto const& ends = here().seen.ends(it.claim);
        bool const at_store = here().seen.hold(it.claim) != nullptr;
        bool const by_itself = !ends.empty() && ends.back() == store_end::settled;
        switch (outcome) {
        case release_outcome::released:
            if (!in_time) fail("a release of '" + name + "' after its loss says released");
            // Still at the store: it was passed to another user of the client.
            if (!at_store && !by_itself)
                fail("a release of '" + name + "' says released, but the store ended it otherwise");
            break;
        case release_outcome::already_lost:
            // A request that the network doubled may find its own traces.
            if (in_time && by_itself && here().plan.duplicate == 0)
                fail("a release of '" + name + "' says already lost, but it ended it");
            break;
        case release_outcome::unknown:
            if (here().plan.faultless())
                fail("a release of '" + name + "' is unsure although nothing was wrong");
            break;
        }
    }
};

}  // namespace

checker_ptr make_honesty(world& where) { return std::make_unique<honesty>(where); }

}  // namespace holdfast::simulation
