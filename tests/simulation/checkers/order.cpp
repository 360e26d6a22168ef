#include <algorithm>
#include <map>
#include <string>

#include "simulation/checkers/all.hpp"
#include "simulation/compare/documents.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

namespace {

class order final : public checker {
public:
    using checker::checker;
    char const* name() const override { return "order"; }

    void granted(store_hold const& fresh, bool from_line) override {
        auto const now = here().store.now();
        auto const& spec = *fresh.spec;
        auto const line = here().seen.line(spec.name);
        // Where who comes joins the line first and looks afterwards, it comes when it is decided on, however
        // often others have changed the name in between.
        auto* const documents = here().store.with_documents();
        if (documents != nullptr && documents->seen().undecided(fresh.id)) from_line = false;
        for (auto const& queue : line) {
            if (queue.id == fresh.id) return;
            if (queue.expires <= now) continue;  // dead waiters are skipped
            if (joined_unseen(queue, now) || at_once(line, queue, fresh.id)) continue;
            if (!may_overtake(spec, fresh, *queue.spec, from_line))
                return fail("'" + spec.name + "' was granted to " + here().short_name(fresh.id) +
                            " before " + here().short_name(queue.id) + ", which came first");
        }
    }

    void ended(store_hold const& hold, store_end how) override {
        if (how == store_end::expired) expired_[hold.spec->name] = {hold.number, here().time.now()};
    }

private:
    // Where a server cannot compare the line with the head, it looked a moment before it wrote.
    bool joined_unseen(store_wait const& queue, seam::store_time now) {
        auto const& plan = here().plan;
        return plan.family == store_family::compare_with_clock &&
               now - queue.since <= plan.latency_max / 8 + std::chrono::microseconds{1};
    }

    // Where the rules run in the client, they looked a few trips ago at what is granted now, and the name has not been
    // changed since: a hold that somebody joins may have expired meanwhile.
    bool joins_expired(store_hold const& fresh) {
        auto const& plan = here().plan;
        auto const found = expired_.find(fresh.spec->name);
        return plan.compares() && found != expired_.end() && found->second.number == fresh.number &&
               here().time.now() - found->second.when <= 4 * plan.latency_max + plan.spike_max;
    }

    // Such a server gives out places before they can be seen: of two that come at once, either may be first.
    bool at_once(std::vector<store_wait> const& line, store_wait const& queue, seam::claim_id id) {
        auto const other = std::ranges::find(line, id, &store_wait::id);
        return other != line.end() && joined_unseen(queue, other->since);
    }

    bool may_overtake(seam::claim_spec const& spec, store_hold const& fresh,
                      seam::claim_spec const& waiter, bool from_line) {
        bool const permits = !from_line && spec.mode == claim_mode::permits &&
                             spec.order == ordering::barging && waiter.order == ordering::barging;
        if (permits || !spec.joins) return permits;
        auto const holders = here().seen.holders(spec.name, here().store.now());
        return joins_expired(fresh) || std::ranges::any_of(holders, [&](auto const* each) {
                   return each->number == fresh.number && !conflicting(*each->spec, spec);
               });
    }

    struct expired_hold {
        seam::sequence number{};
        moment when{};
    };
    std::map<std::string, expired_hold> expired_;  ///< the last one of each name
};

}  // namespace

checker_ptr make_order(world& where) { return std::make_unique<order>(where); }

}  // namespace holdfast::simulation
