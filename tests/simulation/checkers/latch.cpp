#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
    std::uint64_t round{0};
};

/// One round of a latch, in true time.
struct latch_round {
    moment begun{};
    std::optional<moment> finished{};
    std::optional<moment> ended{};  ///< by a reset, or because the store forgot it

    /// Whether it could be seen at that time or later.
    [[nodiscard]] bool lasted_until(moment when) const { return !ended || *ended >= when; }
};

/// One count-down or reset of a user.
struct counting {
    std::uint32_t n{0};
    moment begun{};
    bool resets{false};
    int times{0};         ///< that it took effect
    bool excused{false};  ///< the store forgot everything meanwhile
};

class latch final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "latch"; }

    void emptied() override {
        truth_.clear();
        forgotten_ = here().time.now();
        for (auto& [after, it] : countings_)
            it.times = 0, it.excused = true;
    }

    void carried_out(seam::request const& asked, seam::reply const& answer) override {
        auto const* const swap = std::get_if<seam::swap>(&asked);
        auto const* const done = std::get_if<seam::swapped>(&answer.body);
        if (swap == nullptr || done == nullptr || swap->key.kind != lock_kind::latch) return;
        auto& was = truth_[swap->key.name];
        if (done->version <= was.version) return;  // came twice
        cell_words words{swap->value};
        latch_truth now{done->version, words.number(), words.number()};
        (void)words.number();  // how often it was changed
        now.round = words.number();
        if (was.version == 0 || now.round != was.round) {
            if (was.version != 0) on_reset(*swap, was, now);
            begin_round(swap->key.name);
            was.left = was.declared = now.declared;
        }
        if (now.declared != was.declared) fail("the count of '" + swap->key.name + "' was changed");
        if (now.left > was.left) fail("what is left of '" + swap->key.name + "' has risen");
        if (now.left < was.left) on_counted(*swap, was.left - now.left, now.left);
        auto& finished = rounds_[swap->key.name].back().finished;
        if (now.left == 0 && !finished) finished = here().time.now();
        was = now;
    }

    void happened(event const& what) override {
        if (auto const* const begun = std::get_if<count_begun>(&what)) {
            countings_[begun->after].n = begun->n;
            countings_[begun->after].begun = here().time.now();
        } else if (auto const* const again = std::get_if<reset_begun>(&what)) {
            countings_[again->after].resets = true;
        } else if (auto const* const ended = std::get_if<count_ended>(&what)) {
            auto const& it = countings_[ended->after];
            // One that was open meanwhile may have had nothing left to count.
            bool const over =
                std::ranges::any_of(rounds_[ended->name], [&](latch_round const& each) {
                    return each.finished && each.lasted_until(it.begun);
                });
            if (ended->done && !over && !it.excused && it.times != 1)
                fail("a count-down of '" + ended->name + "' says done, and was counted " +
                     std::to_string(it.times) + " times");
        } else if (auto const* const passed = std::get_if<latch_passed>(&what)) {
            on_passed(*passed);
        }
    }

    void tick() override {
        if (!here().calm) return;
        if (!calm_since_) calm_since_ = here().time.now();
        for (auto const& home : here().clients)
            if (home->alive())
                for (auto const& each : home->parties)
                    if (auto const* const one = dynamic_cast<latch_party const*>(each.get()))
                        check_waiting(*one);
    }

private:
    void begin_round(std::string const& name) {
        auto& rounds = rounds_[name];
        if (!rounds.empty() && !rounds.back().ended) rounds.back().ended = here().time.now();
        rounds.push_back({here().time.now()});
    }

    void on_reset(seam::swap const& swap, latch_truth const& was, latch_truth const& now) {
        auto const& name = swap.key.name;
        if (now.round != was.round + 1) fail("a round of '" + name + "' was left out");
        if (now.left != now.declared) fail("'" + name + "' was reset to less than its count");
        auto found = countings_.upper_bound(swap.operation);
        if (found == countings_.begin() || !std::prev(found)->second.resets ||
            std::prev(found)->first.client != swap.operation.client)
            return fail("'" + name + "' was reset by nobody");
        if (++std::prev(found)->second.times > 1) fail("a reset of '" + name + "' was done twice");
    }

    // A wait is for a round that could be seen since it began: the first of them, or a later one.
    void on_passed(latch_passed const& how) {
        auto const was = [&](auto const& fits) {
            return std::ranges::any_of(rounds_[how.name], [&](latch_round const& each) {
                return each.lasted_until(how.since) && fits(each);
            });
        };
        if (!how.lost && !was([](latch_round const& each) { return each.finished.has_value(); }))
            fail("somebody was let through '" + how.name + "' before its end");
        // A store that has forgotten its rounds counts them from the first again.
        bool const forgotten = forgotten_ && *forgotten_ >= how.since;
        if (how.lost && !forgotten &&
            !was([](latch_round const& each) { return each.ended && !each.finished; }))
            fail("somebody was told that '" + how.name + "' was reset, which had come to its end");
    }

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
        auto const rounds = rounds_.find(it.name());
        auto const now_at_store = truth_.find(it.name());
        bool const stands = now_at_store != truth_.end() && now_at_store->second.left == 0;
        if (!since || rounds == rounds_.end() || !stands) return;
        auto const over = rounds->second.back().finished.value_or(moment{0});
        auto const& plan = here().plan;
        auto const bound = std::chrono::seconds{8} + moment{plan.request_timeout} +
                           8 * plan.latency_max + plan.stall_max + plan.spike_max;
        if (here().time.now() - std::max({*since, over, *calm_since_}) > bound)
            fail(it.text() + ", which is at its end");
    }

    std::map<std::string, latch_truth> truth_;
    std::map<std::string, std::vector<latch_round>> rounds_;
    std::map<seam::claim_id, counting> countings_;  ///< by the operation before theirs
    std::optional<moment> calm_since_;
    std::optional<moment> forgotten_;  ///< when the store was last emptied
};

}  // namespace

checker_ptr make_latch(world& where) { return std::make_unique<latch>(where); }

}  // namespace holdfast::simulation
