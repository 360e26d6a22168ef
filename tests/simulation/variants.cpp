#include "simulation/variants.hpp"

#include <utility>

#include "simulation/variants_store.hpp"
#include "simulation/witness.hpp"

namespace holdfast::simulation {

namespace {

using std::chrono::milliseconds;

// --- wrong judgement in the core ---------------------------------------------------------------

struct deadline_from_receipt : core::judgement {
    base::instant deadline(core::clock_pair const& pair, seam::store_time,
                           milliseconds lease) const override {
        return pair.received + lease - margin(lease);
    }
};

struct no_margin : core::judgement {
    base::instant deadline(core::clock_pair const& pair, seam::store_time began,
                           milliseconds lease) const override {
        return core::judgement::deadline(pair, began, lease) + 2 * margin(lease);
    }
};

struct one_error_ends_it : core::judgement {
    bool error_ends_renewal() const override { return true; }
};

struct same_token_at_pass : core::judgement {
    unsigned next_pass(unsigned pass) const override { return pass; }
};

struct not_after_never : core::judgement {
    seam::store_time not_after(core::clock_pair const&, base::instant) const override {
        return seam::store_time::max();
    }
};

// Believes that what it is told is so, and is so now: a grant began when its notice came.
struct believes_notices : core::judgement {
    bool notice_is_truth() const override { return true; }
    core::clock_pair reading_for_notice(core::clock_pair const&, seam::store_time began,
                                        base::instant received) const override {
        return {received, received, began};
    }
};

// One reading for whatever answers, by whatever clock.
struct one_reading : core::judgement {
    core::clock_source source_of(core::clock_source) const override { return {}; }
};

struct session_end_ignored : core::judgement {
    bool session_end_counts() const override { return false; }
};

struct lease_as_asked : core::judgement {
    milliseconds sure_lease(milliseconds asked, milliseconds) const override { return asked; }
};

// --- a store that misunderstands ---------------------------------------------------------------

// No owner check: a release of what is no longer held ends what is held now.
void release_for_anybody(witness const& seen, seam::store_time now, seam::request& what) {
    auto* const settle = std::get_if<seam::settle>(&what);
    if (settle == nullptr) return;
    auto& claim = settle->subject;
    if (seen.hold(claim.id) != nullptr || seen.waiting(claim.id)) return;
    for (auto const* const each : seen.holders(claim.name(), now))
        claim.id = each->id;
}

void ignore_not_after(witness const&, seam::store_time, seam::request& what) {
    if (auto* const submit = std::get_if<seam::submit>(&what))
        submit->not_after = seam::store_time::max();
}

void ignore_tombstones(witness const&, seam::store_time, seam::request& what) {
    if (auto* const settle = std::get_if<seam::settle>(&what)) settle->tombstone_until = {};
}

// Holds for less time than it was asked to.
void hold_for_half(witness const&, seam::store_time, seam::request& what) {
    if (auto* const submit = std::get_if<seam::submit>(&what)) {
        auto& claim = submit->subject;
        auto changed = *claim.spec;
        changed.lease /= 2;
        claim.spec = std::make_shared<seam::claim_spec const>(std::move(changed));
    }
}

// Stores that compare, and their drivers.
std::vector<broken_variant> variants_of_stores_that_compare() {
    std::vector<broken_variant> out;
    auto const apart = [&](variant which, std::vector<std::string_view> seen_by,
                           bool (*shows_in)(profile const&)) {
        out.push_back({std::move(which), std::move(seen_by), theme::locks, shows_in});
    };
    auto const comparing = [](profile const& plan) { return plan.compares(); };
    auto const with_clock = [](profile const& plan) {
        return plan.family == store_family::compare_with_clock && plan.spike > 0;
    };
    auto const forged = [](profile const& plan) { return plan.forgeries > 0; };
    apart({.name = "step-without-its-condition", .documents = {.forgets_stamps = true}},
          {"witness", "exclusion", "early loss"}, comparing);
    apart({.name = "letter-believed-without-its-secret", .believes_letters = true},
          {"honesty", "early loss", "fencing"}, forged);
    apart({.name = "dead-session-counted-as-alive", .documents = {.counts_the_dead = true}},
          {"wake-up", "progress"}, comparing);
    apart({.name = "generation-not-compared", .documents = {.forgets_generations = true}},
          {"leftovers", "owners"}, comparing);
    apart({.name = "withdrawal-not-carried-out", .documents = {.forgets_leavers = true}},
          {"owners"}, comparing);
    apart({.name = "living-session-told-as-dead", .documents = {.kills_the_living = true}},
          {"sessions"}, comparing);
    apart({.name = "late-sign-of-life-takes-back", .documents = {.takes_life_back = true}},
          {"early loss", "exclusion"}, with_clock);
    return out;
}

}  // namespace

std::vector<broken_variant> const& broken_variants() {
    using checkers = std::vector<std::string_view>;
    static std::vector<broken_variant> const all = [] {
        std::vector<broken_variant> out;
        auto const core = [&](char const* name, auto judge, checkers seen_by) {
            out.push_back({{.name = name, .judge = std::move(judge)}, std::move(seen_by)});
        };
        auto const store = [&](char const* name, auto tamper, checkers seen_by) {
            out.push_back({{.name = name, .tamper = tamper}, std::move(seen_by)});
        };
        core("deadline-from-receipt", std::make_shared<deadline_from_receipt>(), {"early loss"});
        core("no-margin", std::make_shared<no_margin>(), {"early loss"});
        core("error-ends-renewal", std::make_shared<one_error_ends_it>(), {"persistence"});
        core("same-token-at-pass", std::make_shared<same_token_at_pass>(), {"fencing"});
        core("no-not-after", std::make_shared<not_after_never>(), {"leftovers"});
        core("notice-is-truth", std::make_shared<believes_notices>(), {"early loss"});
        auto const in_sessions = [](profile const& plan) {
            return plan.session && !plan.compares();
        };
        auto const in_lanes = [](profile const& plan) { return plan.lanes > 1; };
        auto const apart = [&](variant which, checkers seen_by, bool (*shows_in)(profile const&)) {
            out.push_back({std::move(which), std::move(seen_by), theme::locks, shows_in});
        };
        apart({.name = "session-end-ignored", .judge = std::make_shared<session_end_ignored>()},
              {"sessions"}, in_sessions);
        apart({.name = "lease-as-asked", .judge = std::make_shared<lease_as_asked>()},
              {"early loss"}, in_sessions);
        apart({.name = "session-taken-for-leases", .believes_in_leases = true}, {"leftovers"},
              in_sessions);
        apart({.name = "one-reading-for-all-lanes",
               .judge = std::make_shared<one_reading>(),
               .one_lane = true},
              {"early loss", "leftovers"}, in_lanes);
        for (auto& each : variants_of_stores_that_compare())
            out.push_back(std::move(each));
        store("release-for-anybody", &release_for_anybody, {"early loss"});
        store("not-after-ignored", &ignore_not_after, {"leftovers"});
        store("tombstones-ignored", &ignore_tombstones, {"leftovers"});
        store("half-a-lease", &hold_for_half, {"early loss"});
        for (auto& each : odd_stores())
            out.push_back(std::move(each));
        // Users of a synchronizer who take its steps in the wrong order.
        out.push_back({{.name = "unlocks-before-it-is-queued", .unlocks_first = true},
                       {"condition"},
                       theme::condition});
        out.push_back(
            {{.name = "holds-and-waits", .holds_and_waits = true}, {"together"}, theme::together});
        return out;
    }();
    return all;
}

std::optional<variant> find_variant(std::string_view name) {
    for (auto const& each : broken_variants())
        if (each.which.name == name) return each.which;
    return std::nullopt;
}

}  // namespace holdfast::simulation
