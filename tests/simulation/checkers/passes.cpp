#include <algorithm>
#include <map>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class passes final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "passes"; }

    void let_go(local_hold const& it) override { state_[it.claim] = it.at_release; }

    void given(local_hold const& it) override {
        auto const before = state_.find(it.claim);
        if (it.pass() == 0 || before == state_.end()) return;
        auto const& name = it.terms->spec->name;
        if (before->second != lease_state::held)
            fail("'" + name + "' was passed on although it was " + to_string(before->second));
        auto const* const at_store = here().seen.hold(it.claim);
        if (!it.contended || at_store == nullptr) return;
        if (static_cast<int>(it.pass()) > it.terms->local_passes)
            fail("'" + name + "' was passed on " + std::to_string(it.pass()) +
                 " times although others wait");
        auto const longest = std::max(it.terms->spec->lease, at_store->lease);
        if (here().plan.within_fault_model() &&
            here().store.now() > at_store->granted + longest / 10)
            fail("'" + name + "' was passed on later than a tenth of its lease after the grant");
    }

private:
    std::map<seam::claim_id, lease_state> state_;
};

}  // namespace

checker_ptr make_passes(world& where) { return std::make_unique<passes>(where); }

}  // namespace holdfast::simulation
