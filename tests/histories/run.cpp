#include "histories/run.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include <holdfast/client.hpp>

#include "histories/checker.hpp"
#include "histories/workers.hpp"
#include "support/eventually.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;

class runner {
public:
    explicit runner(run_settings const& settings)
        : settings_{settings},
          files_{settings.directory},
          log_{files_.directory() / "faults.journal"},
          random_{settings.seed, 0},
          store_{store_row::make(settings.store, settings.seed)},
          workers_{settings, *store_, files_, log_} {
        plan_.careless = settings.careless;
    }

    run_result perform() {
        support::stopwatch const since;
        auto const all = faults();
        await_progress("the start");
        while (since.elapsed() < settings_.lasts && !stuck_ && !has_lost_an_update())
            round(all);
        tell(kind::finishing, {});
        workers_.finish();
        look_for_leftovers();
        result_.history = files_.read(plan_);
        return std::move(result_);
    }

private:
    /// Those of the store, and those of the workers.
    std::vector<fault> faults() {
        std::vector<fault> out;
        if (!settings_.careless) out = store_->faults();
        out.push_back({.name = "worker stopped",
                       .begin = [this](random& chance) { workers_.stop(choose(chance)); },
                       .end = [this] { workers_.resume(chosen_); },
                       .shortest = 20ms});
        if (store_->outlives_workers() && !settings_.careless)
            out.push_back({.name = "worker killed",
                           .begin = [this](random& chance) { workers_.kill(choose(chance)); },
                           .end = [this] { workers_.start(chosen_); },
                           .shortest = 0ms,
                           .longest = 1500ms});
        return out;
    }

    /// What careless workers are there for.
    [[nodiscard]] bool has_lost_an_update() const {
        if (!settings_.careless) return false;
        auto const found = check(files_.read(plan_));
        return std::any_of(found.begin(), found.end(),
                           [](violation const& one) { return one.promise == "lost update"; });
    }

    int choose(random& chance) {
        chosen_ = static_cast<int>(chance.below(static_cast<std::uint64_t>(workers_.count())));
        return chosen_;
    }

    void round(std::vector<fault> const& all) {
        auto const& first = random_.one_of(all);
        auto const began = begin(first);
        // Now and then two things go wrong at once: a worker has its trouble beside the store's.
        auto const& second = random_.one_of(all);
        bool const both = random_.once_in(4) && is_of_workers(second) && !is_of_workers(first);
        if (both) begin(second);
        std::this_thread::sleep_for(random_.between(first.shortest, first.longest));
        if (both) end(second, 0);
        end(first, began);
        tell(kind::healed, {});
        await_progress(first.name);
        std::this_thread::sleep_for(random_.between(0ms, 300ms));
    }

    [[nodiscard]] static bool is_of_workers(fault const& one) {
        return one.name.starts_with("worker");
    }

    instant begin(fault const& one) {
        auto const began = boot_time();
        tell(kind::fault_began, one.name);
        one.begin(random_);
        ++result_.faults[one.name];
        return began;
    }

    void end(fault const& one, instant began) {
        one.end();
        tell(kind::fault_ended, one.name);
        if (!one.forgets) return;
        event lapse;
        lapse.kind = kind::forgot;
        lapse.before = began;
        lapse.after = boot_time();
        lapse.set_note(one.name);
        log_.append(lapse);
    }

    /// Waits until every party has got on.
    void await_progress(std::string const& after) {
        support::stopwatch const since;
        auto const then = workers_.progress();
        std::chrono::nanoseconds const bound{plan_.progress_bound};
        std::string last;
        auto const all_got_on = [&] {
            auto const behind = workers_.behind(then);
            if (!behind.empty()) last = behind;
            return behind.empty();
        };
        bool const all = support::eventually(
            all_got_on, std::chrono::duration_cast<std::chrono::milliseconds>(bound));
        if (since.elapsed() > result_.worst_recovery) {
            result_.worst_recovery = since.elapsed();
            result_.worst_fault = after + ": " + last;
        }
        if (all) return;
        stuck_ = true;
        tell(kind::stuck, last + " after " + after);
    }

    void look_for_leftovers() {
        {
            client reader{store_->direct_url()};
            auto const held = [&] {
                std::string out;
                for (auto const& name : reader.locks())
                    if (!name.holders.empty() || !name.waiters.empty()) out += name.name + " ";
                return out;
            };
            // A killed worker's claims end with their leases.
            if (!support::eventually([&] { return held().empty(); }, 15s))
                tell(kind::leftover, "held or waited for: " + held());
        }
        if (!support::eventually([&] { return store_->leftovers().empty(); }, 15s))
            for (auto const& what : store_->leftovers())
                tell(kind::leftover, what);
    }

    void tell(kind what, std::string const& note) {
        event one;
        one.kind = what;
        one.before = one.after = boot_time();
        one.set_note(note);
        log_.append(one);
    }

    run_settings const& settings_;
    plan plan_;
    archive files_;
    journal log_;
    random random_;
    std::unique_ptr<store> store_;
    workers workers_;
    run_result result_;
    int chosen_{0};
    bool stuck_{false};
};

}  // namespace

run_result perform(run_settings const& settings) { return runner{settings}.perform(); }

}  // namespace holdfast::histories
