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
        auto const heard = heard_.try_emplace(it.claim, here().store.now()).first->second;
        auto const before = state_.find(it.claim);
        if (it.pass() == 0 || before == state_.end()) return;
        auto const& name = it.terms->spec->name;
        if (before->second != lease_state::held)
            fail("'" + name + "' was passed on although it was " + to_string(before->second));
        auto const* const at_store = here().seen.hold(it.claim);
        if (at_store == nullptr || !(it.contended || others_wait(*at_store))) return;
        if (static_cast<int>(it.pass()) > it.terms->local_passes)
            fail("'" + name + "' was passed on " + std::to_string(it.pass()) +
                 " times although others wait");
        // Where the rules run in the clients, a grant is known from when it was heard of, by the client's clock.
        bool const compares = here().plan.compares();
        auto const longest = std::max(it.terms->spec->lease, at_store->lease);
        auto const bound = compares ? longest / 10 + longest / 1'000 : longest / 10;
        if (here().plan.within_fault_model() &&
            here().store.now() > (compares ? heard : at_store->granted) + bound)
            fail("'" + name + "' was passed on later than a tenth of its lease after the grant");
    }

private:
    // Whoever waited when the name was granted is told of with the grant, and known since; but a store that looks at
    // the line before it writes may have overlooked who has just come.
    bool others_wait(store_hold const& held) {
        auto const& plan = here().plan;
        if (!plan.compares()) return false;
        auto const unseen = plan.latency_max / 8 + std::chrono::microseconds{1};
        return std::ranges::any_of(here().seen.line(held.spec->name), [&](store_wait const& each) {
            return each.id.client != held.id.client && each.since + unseen < held.granted &&
                   each.expires > here().store.now();
        });
    }

    std::map<seam::claim_id, lease_state> state_;
    std::map<seam::claim_id, seam::store_time> heard_;
};

}  // namespace

checker_ptr make_passes(world& where) { return std::make_unique<passes>(where); }

}  // namespace holdfast::simulation
