#include <map>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

// The keeper tries again at least every sixth of the lease (a silent store) plus a tenth (the longest
// back-off). A hold that ended by its deadline with no try in half a lease was not fought for.
class persistence final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "persistence"; }

    void renewal_sent(seam::claim_id id) override { last_[id] = here().time.now(); }

    void told(local_hold const& it) override {
        auto& home = *here().clients[it.client];
        auto const& terms = *it.terms;
        moment const half = moment{terms.spec->lease} / 2;
        bool const by_deadline = home.now() >= it.grant->lost_at();
        bool const plain = terms.renew && terms.grace.count() == 0 && !terms.max_hold &&
                           terms.renew_every <= terms.spec->lease / 2 && it.of == nullptr &&
                           home.users[it.user]->its_habit().relengths == 0;
        bool const stopped =
            here().time.now() - home.stopped_until() < 2 * half && home.stopped_until() > moment{0};
        if (!plain || !by_deadline || stopped || !here().plan.within_fault_model()) return;
        auto const found = last_.find(it.claim);
        auto const slack = here().plan.timer_lateness * 2 + half / 20;
        if (found == last_.end() || here().time.now() - found->second > half + slack)
            fail("'" + terms.spec->name + "' was lost without a renewal for half a lease");
    }

private:
    std::map<seam::claim_id, moment> last_;
};

}  // namespace

checker_ptr make_persistence(world& where) { return std::make_unique<persistence>(where); }

}  // namespace holdfast::simulation
