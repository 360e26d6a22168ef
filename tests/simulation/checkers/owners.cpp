#include <map>
#include <set>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/compare/documents.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

// Where claims live with a session, no lease of its own ends one that was left behind: it lasts as long as its client.
class owners final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "owners"; }

    void tick() override {
        auto* const documents = here().store.with_documents();
        if (documents == nullptr || ++ticks_ % ticks_per_look != 0) return;
        std::set<seam::claim_id> nobodys;
        for (auto const& entry : documents->seen().entries())
            if (is_nobodys(entry)) nobodys.insert(entry.id);
        std::erase_if(since_, [&](auto const& each) { return !nobodys.contains(each.first); });
        for (auto const& id : nobodys)
            look_at(id, since_.emplace(id, here().time.now()).first->second);
    }

private:
    // A client that was killed or stopped has its lease.
    bool is_nobodys(document_witness::entry const& entry) {
        auto* const home = here().find(entry.id.client);
        return home != nullptr && home->alive() && !home->stopped() && !home->closed() &&
               !home->knows(entry.id) && !home->asks_about(entry.id);
    }

    void look_at(seam::claim_id id, moment since) {
        auto const& plan = here().plan;
        auto const bound = moment{plan.request_timeout} + 2 * plan.latency_max;
        if (here().time.now() - since <= bound) return;
        fail(here().short_name(id) +
             " is in a session that lives, and its client knows nothing of it");
    }

    static constexpr unsigned ticks_per_look = 4;

    unsigned ticks_{0};
    std::map<seam::claim_id, moment> since_;
};

}  // namespace

checker_ptr make_owners(world& where) { return std::make_unique<owners>(where); }

}  // namespace holdfast::simulation
