#include <set>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class leftovers final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "leftovers"; }

    void begun(call_record const& it) override { asked_for_.insert(it.terms->spec); }

    void granted(store_hold const& fresh, bool) override {
        // A store that began anew has forgotten what it was told.
        if (here().seen.given_up(fresh.id) && here().plan.restarts == 0)
            fail("'" + fresh.spec->name + "' was granted to " + here().short_name(fresh.id) +
                 " after it was given up");
    }

    void finished() override {
        for (auto const& home : here().clients) {
            if (!home->alive()) continue;
            for (auto const& user : home->users)
                if (!user->at_rest())
                    fail("user " + std::to_string(user->number()) + " of " + world::name_of(*home) +
                         " waits or holds for ever");
            if (!home->engine().idle()) fail(world::name_of(*home) + " has claims left");
        }
        touch_all();
        if (auto const left = here().store.size(); left != 0)
            fail("the store has " + std::to_string(left) + " things left");
    }

private:
    // The store clears away what is over when it next looks at a name.
    void touch_all() {
        auto const nobody = std::make_shared<seam::identity const>();
        auto const ignore = [](seam::reply const&) {};
        for (auto const& spec : asked_for_) {
            seam::settle probe;
            probe.claims.push_back({spec, {seam::client_id{1}, 1}});
            here().store.receive(nobody, probe, ignore);
        }
        seam::submit last{{}, false, seam::store_time::max()};
        auto const spec =
            std::make_shared<seam::claim_spec const>(seam::claim_spec{.name = "leftovers"});
        last.claims.push_back({spec, {seam::client_id{1}, 2}});
        here().store.receive(nobody, last, ignore);
        seam::settle end;
        end.claims = last.claims;
        here().store.receive(nobody, end, ignore);
    }

    std::set<seam::spec_ptr> asked_for_;
};

}  // namespace

checker_ptr make_leftovers(world& where) { return std::make_unique<leftovers>(where); }

}  // namespace holdfast::simulation
