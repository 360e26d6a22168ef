#include <algorithm>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class order final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "order"; }

    void granted(store_hold const& fresh, bool from_line) override {
        auto const now = here().store.now();
        auto const& spec = *fresh.spec;
        for (auto const& queue : here().seen.line(spec.name)) {
            if (queue.id == fresh.id) return;
            if (queue.expires <= now) continue;  // dead waiters are skipped
            if (!may_overtake(spec, fresh, *queue.spec, from_line))
                return fail("'" + spec.name + "' was granted to " + here().short_name(fresh.id) +
                            " before " + here().short_name(queue.id) + ", which came first");
        }
    }

private:
    bool may_overtake(seam::claim_spec const& spec, store_hold const& fresh,
                      seam::claim_spec const& waiter, bool from_line) {
        bool const permits = !from_line && spec.mode == claim_mode::permits &&
                             spec.order == ordering::barging && waiter.order == ordering::barging;
        if (permits || !spec.joins) return permits;
        auto const holders = here().seen.holders(spec.name, here().store.now());
        return std::ranges::any_of(holders, [&](auto const* each) {
            return each->number == fresh.number && !conflicting(*each->spec, spec);
        });
    }
};

}  // namespace

checker_ptr make_order(world& where) { return std::make_unique<order>(where); }

}  // namespace holdfast::simulation
