#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class permits final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "permits"; }

    void granted(store_hold const& fresh, bool) override {
        auto const& spec = *fresh.spec;
        if (spec.kind != lock_kind::semaphore) return;
        std::uint64_t used = spec.permits;
        for (auto const* const other : here().seen.holders(spec.name, here().store.now()))
            if (other->id != fresh.id) used += other->spec->permits;
        if (auto const limit = here().seen.limit(spec); used > limit)
            fail("'" + spec.name + "' has given " + std::to_string(used) + " permits of " +
                 std::to_string(limit));
    }

    // All that were asked for, or none.
    void given(local_hold const& it) override {
        auto const* const at_store = here().seen.hold(it.claim);
        auto const& spec = *it.terms->spec;
        if (at_store == nullptr || spec.mode != claim_mode::permits) return;
        if (at_store->spec->permits != spec.permits)
            fail("a user asked for " + std::to_string(spec.permits) + " permits of '" + spec.name +
                 "' and got " + std::to_string(at_store->spec->permits));
    }
};

}  // namespace

checker_ptr make_permits(world& where) { return std::make_unique<permits>(where); }

}  // namespace holdfast::simulation
