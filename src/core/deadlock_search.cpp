// The part of the engine that looks for cycles of waiting owners.
#include "core/deadlock_search.hpp"

#include <algorithm>
#include <utility>

#include "core/engine_parts.hpp"
#include "core/wait_graph.hpp"

namespace holdfast::core {

namespace {

// So long the others of a cycle leave it to the youngest to report it.
constexpr std::chrono::nanoseconds left_to_youngest = std::chrono::seconds{2};
constexpr std::chrono::nanoseconds second_look = std::chrono::milliseconds{400};

}  // namespace

// Queue first, then look: whoever queues last sees the whole cycle.
void deadlock_search::look(claim_state& claim, base::instant now) {
    claim.cold().seen.clear();
    seam::inspect first;
    first.waited_for = true;
    shared_.send(
        {.purpose = request_purpose::look, .sent = now, .subject = claim.subject.id.number},
        std::move(first));
}

void deadlock_search::on_reply(claim_state& claim, seam::reply const& answer, base::instant now) {
    auto const* const page = std::get_if<seam::page>(&answer.body);
    if (page == nullptr || claim.at() != claim_phase::waiting) return;
    for (lock_info const& name : page->names)  // without their cells
        claim.cold().seen.push_back(name);
    if (!page->next.empty()) {
        seam::inspect rest;
        rest.waited_for = true;
        rest.after = page->next;
        return shared_.send(
            {.purpose = request_purpose::look, .sent = now, .subject = claim.subject.id.number},
            std::move(rest));
    }
    auto const names = std::exchange(claim.cold().seen, {});
    auto const id = seam::to_string(claim.subject.id);
    auto const cycle = find_cycle(names, id);
    auto& since = claim.cold().in_cycle_since;
    since = cycle.empty() ? base::never : std::min(since, now);
    if (cycle.empty()) return;
    // The youngest reports it. It may not look for cycles, or have looked before the last one stood in line, where a
    // place is drawn before others can see who has it: then whoever finds the cycle there for long enough does.
    if (!is_youngest(cycle, id) && now - since < left_to_youngest) {
        claim.renew_at = std::min(claim.renew_at, now + second_look + shared_.jitter(second_look));
        return parts_.timing.reschedule(claim);
    }
    std::string words = "waiting for '" + claim.terms->spec->name + "' closes a cycle:";
    for (auto const& step : cycle)
        words += " " + step.waiter.owner + " waits for '" + step.name + "';";
    words.pop_back();
    parts_.acquires.fail_queue(claim, {errc::would_deadlock, words}, now);
}

}  // namespace holdfast::core
