#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class fencing final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "fencing"; }

    void granted(store_hold const& fresh, bool) override {
        auto& last = highest_[fresh.spec->name];
        bool const joins = fresh.number == last && (joins_owner(fresh) || joined_unseen(fresh));
        if (fresh.number <= last && !joins)
            fail("a grant of '" + fresh.spec->name + "' has a sequence that does not rise");
        if (fresh.number >= last) last_holder_[fresh.spec->name] = fresh.spec;
        last = std::max(last, fresh.number);
    }

    void given(local_hold const& it) override {
        auto const& spec = *it.terms->spec;
        auto const token = it.grant->token();
        auto const* const at_store = here().seen.hold(it.claim);
        if (at_store != nullptr && !here().forsaken(it.claim) &&
            static_cast<std::uint64_t>(at_store->number) != token >> 8)
            fail("a token of '" + spec.name + "' is not of its grant");
        if (spec.mode != claim_mode::exclusive || spec.joins) return;
        // Two holds with one token could both write.
        if (!given_.emplace(spec.name, token).second)
            fail("two holds of '" + spec.name + "' have the same token");
        auto& last = last_given_[spec.name];
        auto const& plan = here().plan;
        bool const certain = plan.within_fault_model() && plan.restarts == 0 && plan.evictions == 0;
        if (certain && token <= last)
            fail("a hold of '" + spec.name + "' has a token below one that was given before");
        last = std::max(last, token);
    }

private:
    bool joins_owner(store_hold const& fresh) {
        if (!fresh.spec->joins) return false;
        auto const others = here().seen.holders(fresh.spec->name, here().store.now());
        return std::ranges::any_of(others, [&](auto const* each) {
            return each->number == fresh.number && !conflicting(*each->spec, *fresh.spec);
        });
    }

    // Whoever compares looked a moment before it wrote: what it joins may have ended since, and nobody has held in
    // between.
    bool joined_unseen(store_hold const& fresh) {
        if (here().store.with_documents() == nullptr || !fresh.spec->joins) return false;
        auto const& before = last_holder_[fresh.spec->name];
        return before != nullptr && before->joins && before->owner == fresh.spec->owner;
    }

    std::map<std::string, seam::sequence> highest_;
    std::map<std::string, std::shared_ptr<seam::claim_spec const>> last_holder_;
    std::map<std::string, std::uint64_t> last_given_;
    std::set<std::pair<std::string, std::uint64_t>> given_;
};

}  // namespace

checker_ptr make_fencing(world& where) { return std::make_unique<fencing>(where); }

}  // namespace holdfast::simulation
