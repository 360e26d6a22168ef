#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "simulation/checkers/all.hpp"
#include "simulation/compare/documents.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class leftovers final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "leftovers"; }

    void emptied() override {
        cells_.clear();
        limits_.clear();
    }

    // A cell has its time to live, and a changed limit its day.
    void carried_out(seam::request const& asked, seam::reply const& answer) override {
        if (auto const* const submit = std::get_if<seam::submit>(&asked)) {
            auto const& spec = submit->subject.spec;
            asked_for_.emplace(std::pair{spec->name, spec->kind}, spec);
        } else if (auto const* const swap = std::get_if<seam::swap>(&asked)) {
            if (std::holds_alternative<seam::swapped>(answer.body)) cells_.insert(swap->key);
        } else if (auto const* const adjust = std::get_if<seam::adjust>(&asked)) {
            if (adjust->current) limits_.insert(adjust->subject.name());
        }
    }

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
            for (auto const& each : home->parties)
                if (!each->at_rest()) fail(each->text() + ": does not come to rest");
            if (!home->engine()->idle()) fail(world::name_of(*home) + " has claims left");
        }
        touch_all();
        if (auto* const documents = here().store.with_documents()) return look_at(*documents);
        if (auto const left = here().store.size(); left != 2 * cells_.size() + limits_.size())
            fail("the store has " + std::to_string(left) + " things left");
    }

private:
    void look_at(documents& store) {
        for (auto const& key : store.behind().all_names()) {
            bool const has_cell = std::ranges::any_of(
                cells_, [&](seam::cell_key const& each) { return each.name == key.name; });
            if (!has_cell && !limits_.contains(key.name))
                fail("'" + key.name + "' is left at the store");
            else if (store.seen().anybody_at(key))
                fail("somebody is left at '" + key.name + "'");
        }
    }

    // The store clears away what is over when it next looks at a name.
    void touch_all() {
        auto const nobody = std::make_shared<seam::identity const>();
        auto const ignore = [](seam::reply const&) {};
        for (auto const& [key, spec] : asked_for_) {
            seam::settle probe;
            auto alone = *spec;  // readers would not ask whether other readers live
            if (alone.mode == claim_mode::shared) alone.mode = claim_mode::exclusive;
            probe.subject = {std::make_shared<seam::claim_spec const>(alone),
                             {seam::client_id{1}, 1}};
            // Only who wants to come in looks whether those who are in the way live.
            if (here().plan.compares())
                here().store.receive(
                    nobody, seam::submit{probe.subject, false, seam::store_time::max()}, ignore);
            here().store.receive(nobody, probe, ignore);
        }
        // A holder who is in nobody's way is cleared away by the next one who lists the name.
        if (here().plan.compares()) here().store.receive(nobody, seam::inspect{}, ignore);
        seam::submit last{{}, false, seam::store_time::max()};
        auto const spec =
            std::make_shared<seam::claim_spec const>(seam::claim_spec{.name = "leftovers"});
        last.subject = {spec, {seam::client_id{1}, 2}};
        here().store.receive(nobody, last, ignore);
        seam::settle end;
        end.subject = last.subject;
        here().store.receive(nobody, end, ignore);
    }

    std::map<std::pair<std::string, lock_kind>, seam::spec_ptr> asked_for_;
    std::set<seam::cell_key> cells_;
    std::set<std::string> limits_;
};

}  // namespace

checker_ptr make_leftovers(world& where) { return std::make_unique<leftovers>(where); }

}  // namespace holdfast::simulation
