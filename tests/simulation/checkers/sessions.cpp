#include <set>

#include "simulation/checkers/all.hpp"
#include "simulation/compare/documents.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class sessions_checker final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "sessions"; }

    // Submitted again, it is a claim of the session after.
    void sent(client const&, seam::request const& what) override {
        if (auto const* const submit = std::get_if<seam::submit>(&what))
            lost_.erase(submit->subject.id);
    }

    // The same where a submit that was under way went on in it by itself.
    void granted(store_hold const& fresh, bool) override {
        auto* const documents = here().store.with_documents();
        if (documents != nullptr && documents->seen().undecided(fresh.id)) lost_.erase(fresh.id);
    }

    void session_lost(std::vector<seam::claim_id> const& claims) override {
        lost_.insert(claims.begin(), claims.end());
        if (auto* const documents = here().store.with_documents())
            for (auto const& id : claims)
                if (documents->seen().sessions_live(id))
                    fail("the session of " + here().short_name(id) +
                         " is told to be lost, and lives");
        look();
    }

    void tick() override { look(); }

private:
    void look() {
        for (auto const& each : here().holds())
            if (lost_.contains(each->claim) && here().believed(*each))
                fail("user " + std::to_string(each->user) + " of " +
                     world::name_of(*here().clients[each->client]) + " believes that it holds '" +
                     each->terms->spec->name + "', whose session is told to be lost");
    }

    std::set<seam::claim_id> lost_;
};

}  // namespace

checker_ptr make_sessions(world& where) { return std::make_unique<sessions_checker>(where); }

}  // namespace holdfast::simulation
