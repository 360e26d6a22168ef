#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "simulation/checkers/all.hpp"
#include "simulation/checkers/words.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

using claims = std::set<seam::claim_id>;

/// A barrier as its cell at the store says.
struct barrier_truth {
    std::uint64_t version{0};
    std::uint64_t parties{0};
    std::uint64_t generation{0};
    bool broken{false};
    bool last_tripped{false};
    std::vector<seam::claim_id> arrived{};
    std::vector<seam::claim_id> before{};

    static barrier_truth of(std::uint64_t version, std::string const& value) {
        cell_words words{value};
        barrier_truth out{version, words.number(), words.number()};
        out.broken = words.number() == 1;
        out.last_tripped = (words.number() & 1) == 1;
        (void)words.ids(1);  // its life: nobody deletes it here
        out.arrived = words.ids(words.number());
        out.before = words.ids(out.parties + 1);
        return out;
    }
};

class barrier final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "barrier"; }

    void emptied() override {
        truth_ = {};
        counted_.clear();
        trips_.clear();
        for (auto& [turn, ids] : turns_)
            excused_.insert(turn);
        last_.clear();
    }

    void granted(store_hold const& fresh, bool) override {
        if (fresh.spec->kind != lock_kind::barrier) return;
        if (auto const found = turn_of_.find(fresh.spec.get()); found != turn_of_.end())
            turns_[found->second].insert(fresh.id);
    }

    void carried_out(seam::request const& asked, seam::reply const& answer) override {
        auto const* const swap = std::get_if<seam::swap>(&asked);
        auto const* const done = std::get_if<seam::swapped>(&answer.body);
        if (swap == nullptr || done == nullptr || swap->key.kind != lock_kind::barrier) return;
        if (done->version <= truth_.version) return;  // came twice
        auto const was = std::exchange(truth_, barrier_truth::of(done->version, swap->value));
        if (truth_.generation == was.generation) return on_same(was);
        if (truth_.generation != was.generation + 1)
            return fail("generation " + std::to_string(was.generation) + " was followed by " +
                        std::to_string(truth_.generation));
        if (truth_.last_tripped) on_trip(was);
    }

    void happened(event const& what) override {
        if (auto const* const begun = std::get_if<arrival_begun>(&what)) {
            turn_of_[begun->presence.get()] = ++turns_made_;
            turns_[turns_made_];
        } else if (auto const* const ended = std::get_if<arrival_ended>(&what)) {
            on_ended(*ended);
        }
    }

    void tick() override {
        if (!here().calm || here().plan.about != theme::barrier) return;
        if (!calm_since_) calm_since_ = here().time.now();
        // In calm times it trips, or breaks and is reset, within a few turns.
        auto const bound = std::chrono::seconds{3} + 40 * here().plan.latency_max;
        for (auto const& home : here().clients)
            for (auto const& each : home->parties)
                if (auto const since = each->stuck_since();
                    since && home->alive() && !home->closed() &&
                    here().time.now() - std::max(*since, *calm_since_) > bound)
                    fail(each->text() + " waits for ever");
    }

private:
    void on_same(barrier_truth const& was) {
        if (was.broken && !truth_.broken) fail("a broken generation was mended");
        claims const now{truth_.arrived.begin(), truth_.arrived.end()};
        if (now.size() != truth_.arrived.size()) fail("somebody was counted twice");
        for (auto const& id : was.arrived)
            if (!now.contains(id)) fail(here().short_name(id) + " had arrived and was forgotten");
        count_new(was, truth_.arrived);
    }

    void on_trip(barrier_truth const& was) {
        claims const all{truth_.before.begin(), truth_.before.end()};
        auto const number = std::to_string(was.generation);
        if (was.broken) fail("generation " + number + " has tripped although it was broken");
        if (all.size() != truth_.parties || truth_.before.size() != truth_.parties)
            fail("generation " + number + " has tripped with " + std::to_string(all.size()) +
                 " parties of " + std::to_string(truth_.parties));
        for (auto const& id : was.arrived)
            if (!all.contains(id)) fail(here().short_name(id) + " had arrived and was forgotten");
        count_new(was, truth_.before);
        trips_[was.generation] = all;
    }

    // Whoever arrives is there, and arrives once.
    void count_new(barrier_truth const& was, std::vector<seam::claim_id> const& now) {
        for (auto const& id : now) {
            if (std::ranges::find(was.arrived, id) != was.arrived.end()) continue;
            auto const* const presence = here().seen.hold(id);
            if (presence == nullptr || presence->kept || presence->expires <= here().store.now())
                fail(here().short_name(id) + " was counted and is not there");
            // One that was reset has ended for nobody whose answer was lost: it may try again.
            auto const before = counted_.find(id);
            if (before != counted_.end() &&
                (before->second == was.generation || trips_.contains(before->second)))
                fail(here().short_name(id) + " was counted in two generations");
            counted_[id] = was.generation;
        }
    }

    [[nodiscard]] bool tripped_with(std::uint64_t turn, std::optional<std::uint64_t> which) const {
        return std::ranges::any_of(turns_.at(turn), [&](seam::claim_id id) {
            auto const found = counted_.find(id);
            if (found == counted_.end() || (which && found->second != *which)) return false;
            auto const trip = trips_.find(found->second);
            return trip != trips_.end() && trip->second.contains(id);
        });
    }

    void on_ended(arrival_ended const& it) {
        auto const turn = turn_of_.at(it.presence.get());
        if (excused_.contains(turn)) return;
        if (it.tripped) {
            auto const number = std::to_string(*it.tripped);
            if (!tripped_with(turn, it.tripped))
                fail("a party was told that generation " + number + " has tripped with it");
            auto& last = last_[it.presence.get()];
            if (last && *last >= *it.tripped) fail("generation " + number + " came back");
            last = it.tripped;
            return;
        }
        // It says so where it does not know; and whoever leaves by himself does not ask.
        bool const unsure = it.text.find("unknown") != std::string::npos ||
                            it.text.find("too long ago") != std::string::npos;
        bool const told = it.error == make_error_code(errc::broken_barrier) && !unsure;
        bool const in_vain = !it.error && !it.stopped;  // its time was over
        if ((told || in_vain) && tripped_with(turn, std::nullopt))
            fail("a party was told '" + it.text + "', but its generation has tripped with it");
    }

    barrier_truth truth_{};
    std::map<seam::claim_id, std::uint64_t> counted_;
    std::map<std::uint64_t, claims> trips_;
    std::uint64_t turns_made_{0};
    std::map<seam::claim_spec const*, std::uint64_t> turn_of_;  // only ever looked up
    std::map<std::uint64_t, claims> turns_;
    std::set<std::uint64_t> excused_;  ///< the store forgot everything meanwhile
    std::map<seam::claim_spec const*, std::optional<std::uint64_t>> last_;  // only ever looked up
    std::optional<moment> calm_since_;
};

}  // namespace

checker_ptr make_barrier(world& where) { return std::make_unique<barrier>(where); }

}  // namespace holdfast::simulation
