#include <map>
#include <optional>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/checkers/words.hpp"
#include "simulation/parties/latch_party.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

/// A latch as its cell at the store says, and what was counted since it was declared.
struct latch_truth {
    std::uint64_t version{0};
    std::uint64_t declared{0};
    std::uint64_t left{0};
    std::uint64_t counted{0};
};

/// One count-down of a user.
struct counting {
    std::uint32_t n{0};
    int times{0};         ///< that it took effect
    bool excused{false};  ///< the store forgot everything meanwhile
};

class latch final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "latch"; }

    void emptied() override {
        truth_.clear();
        for (auto& [after, it] : countings_)
            it = {it.n, 0, true};
    }

    void carried_out(seam::request const& asked, seam::reply const& answer) override {
        auto const* const swap = std::get_if<seam::swap>(&asked);
        auto const* const done = std::get_if<seam::swapped>(&answer.body);
        if (swap == nullptr || done == nullptr || swap->key.kind != lock_kind::latch) return;
        auto& was = truth_[swap->key.name];
        if (done->version <= was.version) return;  // came twice
        cell_words words{swap->value};
        latch_truth now{done->version, words.number(), words.number(), was.counted};
        if (was.version == 0) was.left = was.declared = now.declared;
        if (now.declared != was.declared) fail("the count of '" + swap->key.name + "' was changed");
        if (now.left > was.left) fail("what is left of '" + swap->key.name + "' has risen");
        now.counted += was.left - now.left;
        if (now.left < was.left) on_counted(*swap, was.left - now.left, now.left);
        if (now.left == 0) finished_.emplace(swap->key.name, here().time.now());
        was = now;
    }

    void happened(event const& what) override {
        if (auto const* const begun = std::get_if<count_begun>(&what)) {
            countings_[begun->after].n = begun->n;
        } else if (auto const* const ended = std::get_if<count_ended>(&what)) {
            auto const& it = countings_[ended->after];
            bool const over = finished_.contains(ended->name);
            if (ended->done && !over && !it.excused && it.times != 1)
                fail("a count-down of '" + ended->name + "' says done, and was counted " +
                     std::to_string(it.times) + " times");
        } else if (auto const* const passed = std::get_if<latch_passed>(&what)) {
            if (!finished_.contains(passed->name))
                fail("somebody was let through '" + passed->name + "' before its end");
        }
    }

    void tick() override {
        if (!here().calm) return;
        if (!calm_since_) calm_since_ = here().time.now();
        for (auto const& home : here().clients)
            if (home->alive())
                for (auto const& it : home->parties)
                    if (auto const* const one = dynamic_cast<latch_party const*>(it.get()))
                        check_waiting(*one);
    }

private:
    void on_counted(seam::swap const& swap, std::uint64_t by, std::uint64_t left) {
        auto const& name = swap.key.name;
        auto found = countings_.upper_bound(swap.operation);
        if (found == countings_.begin() || std::prev(found)->first.client != swap.operation.client)
            return fail("'" + name + "' was counted down by nobody");
        auto& it = std::prev(found)->second;
        if (++it.times > 1) fail("a count-down of '" + name + "' was counted twice");
        if (by != it.n && (by > it.n || left > 0))
            fail("a count-down of '" + name + "' by " + std::to_string(it.n) + " was counted as " +
                 std::to_string(by));
    }

    // A poll of at most seven seconds and a half stands behind the notice.
    void check_waiting(latch_party const& it) {
        auto const since = it.stuck_since();
        auto const over = finished_.find(it.name());
        auto const now_at_store = truth_.find(it.name());
        bool const stands = now_at_store != truth_.end() && now_at_store->second.left == 0;
        if (!since || over == finished_.end() || !stands) return;
        auto const& plan = here().plan;
        auto const bound = std::chrono::seconds{8} + moment{plan.request_timeout} +
                           8 * plan.latency_max + plan.stall_max + plan.spike_max;
        if (here().time.now() - std::max({*since, over->second, *calm_since_}) > bound)
            fail(it.text() + ", which is at its end");
    }

    std::map<std::string, latch_truth> truth_;
    std::map<std::string, moment> finished_;
    std::map<seam::claim_id, counting> countings_;  ///< by the operation before theirs
    std::optional<moment> calm_since_;
};

}  // namespace

checker_ptr make_latch(world& where) { return std::make_unique<latch>(where); }

}  // namespace holdfast::simulation
