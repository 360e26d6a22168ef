#include "histories/run.hpp"

#include <algorithm>
#include <memory>
#include <set>
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
        plan_.crew = workers_.who();
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
        auto const add = [&](char const* name, auto harm, auto mend) {
            auto const whom = std::make_shared<int>(0);
            out.push_back({.name = name,
                           .begin =
                               [this, harm, whom](random& chance) {
                                   *whom = choose(chance);
                                   (workers_.*harm)(*whom);
                               },
                           .end =
                               [this, mend, whom] {
                                   (workers_.*mend)(*whom);
                                   troubled_.erase(*whom);
                               },
                           .of_worker = true,
                           .shortest = 20ms});
        };
        add("worker stopped", &workers::stop, &workers::resume);
        if (store_->outlives_workers() && !settings_.careless)
            add("worker killed", &workers::kill, &workers::start);
        return out;
    }

    /// What careless workers are there for.
    [[nodiscard]] bool has_lost_an_update() const {
        if (!settings_.careless) return false;
        auto const found = check(files_.read(plan_));
        return std::any_of(found.begin(), found.end(),
                           [](violation const& one) { return one.promise == "lost update"; });
    }

    /// One that has no trouble yet.
    int choose(random& chance) {
        int out = 0;
        do
            out = static_cast<int>(chance.below(static_cast<std::uint64_t>(workers_.count())));
        while (!troubled_.insert(out).second);
        return out;
    }

    void round(std::vector<fault> const& all) {
        auto const& first = random_.one_of(all);
        auto const began = begin(first);
        // Now and then two things go wrong at once: a worker has its trouble beside the first.
        auto const& second = random_.one_of(all);
        bool const both = random_.once_in(2) && second.of_worker && first.name != second.name &&
                          workers_.count() > 1;
        if (both) begin(second);
        std::this_thread::sleep_for(random_.between(first.shortest, first.longest));
        if (both) end(second, 0);
        end(first, began);
        tell(kind::healed, {});
        await_progress(first.name);
        std::this_thread::sleep_for(random_.between(0ms, 300ms));
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
        if (!one.forgets && !one.ends_holds) return;
        event lapse;
        lapse.kind = one.forgets ? kind::forgot : kind::ended_holds;
        lapse.before = began;
        lapse.after = boot_time() + std::chrono::nanoseconds{one.aftermath}.count();
        lapse.set_note(one.name);
        log_.append(lapse);
    }

    /// Waits until every party has got on.
    void await_progress(std::string const& after) {
        support::stopwatch const since;
        auto const then = workers_.progress();
        std::chrono::nanoseconds const bound{plan_.progress_bound};
        workers::straggler last;
        auto const all_got_on = [&] {
            auto const behind = workers_.behind(then);
            if (behind) last = *behind;
            return !behind;
        };
        bool const all = support::eventually(
            all_got_on, std::chrono::duration_cast<std::chrono::milliseconds>(bound));
        if (since.elapsed() > result_.worst_recovery) {
            result_.worst_recovery = since.elapsed();
            result_.worst_fault = after + " (" + last.words + ")";
        }
        if (all) return;
        stuck_ = true;
        event stuck;
        stuck.kind = kind::stuck;
        stuck.worker = static_cast<std::int16_t>(last.worker);
        stuck.party = static_cast<std::int16_t>(last.party);
        stuck.before = stuck.after = boot_time();
        stuck.set_note(last.words + " after " + after);
        log_.append(stuck);
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
    std::set<int> troubled_;
    bool stuck_{false};
};

}  // namespace

run_result perform(run_settings const& settings) { return runner{settings}.perform(); }

}  // namespace holdfast::histories
