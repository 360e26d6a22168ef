#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class exclusion final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "exclusion"; }

    void granted(store_hold const& fresh, bool) override {
        auto const others = here().seen.holders(fresh.spec->name, here().store.now());
        for (auto const* const other : others) {
            if (other->id == fresh.id) continue;
            if (in_the_way(fresh, *other))
                fail("'" + fresh.spec->name + "' was granted to " + here().short_name(fresh.id) +
                     " while " + here().short_name(other->id) + " has it");
        }
    }

private:
    static bool in_the_way(store_hold const& fresh, store_hold const& other) {
        if (!other.kept) return conflicting(*fresh.spec, *other.spec);
        // What is kept for a minimum hold is nobody's, also not its former owner's, unless the owner
        // still holds by another claim.
        if (other.number == fresh.number || fresh.spec->mode == claim_mode::permits) return false;
        return fresh.spec->mode == claim_mode::exclusive ||
               other.spec->mode == claim_mode::exclusive;
    }
};

}  // namespace

checker_ptr make_exclusion(world& where) { return std::make_unique<exclusion>(where); }

}  // namespace holdfast::simulation
