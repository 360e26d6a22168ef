#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

// The order is watched by another: that nobody who came later is let in before. Here, that whoever is
// first comes in as soon as nothing is in its way. Together: nobody starves.
class progress final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "progress"; }

    void begun(call_record const& it) override { names_.insert(it.terms->spec->name); }

    void tick() override {
        auto const& plan = here().plan;
        bool const watching = here().calm || plan.only_deaths();
        if (!watching || plan.wild_clocks > 0 || !plan.line) return;
        std::map<std::string, std::pair<seam::claim_id, moment>> open;
        for (auto const& name : names_) {
            auto const* const first = first_of(name);
            if (first == nullptr || blocked(*first)) continue;
            auto const before = open_.find(name);
            bool const same = before != open_.end() && before->second.first == first->id;
            auto const since = same ? before->second.second : here().time.now();
            open.emplace(name, std::pair{first->id, since});
            if (here().time.now() - since > bound())
                fail(here().short_name(first->id) + " is the first who waits for '" + name +
                     "', nothing is in its way, and it is not let in");
        }
        open_ = std::move(open);
    }

private:
    // A dead holder may be found out only when the first waiter shows the next time that it lives.
    moment bound() {
        auto const& plan = here().plan;
        return moment{plan.lease_max} / 2 + 8 * plan.latency_max + plan.timer_lateness +
               std::chrono::milliseconds{100};
    }

    // The first of the living: dead ones are skipped.
    store_wait const* first_of(std::string const& name) {
        auto const& line = here().seen.line(name);
        auto const now = here().store.now();
        auto const found =
            std::ranges::find_if(line, [&](store_wait const& it) { return it.expires > now; });
        if (found == line.end()) return nullptr;
        auto const* const home = here().find(found->id.client);
        bool const there = home != nullptr && home->alive() && !home->stopped() && !home->closed();
        return there ? &*found : nullptr;
    }

    bool blocked(store_wait const& first) {
        auto const& spec = *first.spec;
        std::uint64_t used = spec.permits;
        for (auto const* const each : here().seen.holders(spec.name, here().store.now())) {
            used += each->spec->permits;
            if (each->kept || conflicting(*each->spec, spec)) return true;
        }
        return spec.mode == claim_mode::permits && used > here().seen.limit(spec);
    }

    std::set<std::string> names_;
    std::map<std::string, std::pair<seam::claim_id, moment>> open_;
};

}  // namespace

checker_ptr make_progress(world& where) { return std::make_unique<progress>(where); }

}  // namespace holdfast::simulation
