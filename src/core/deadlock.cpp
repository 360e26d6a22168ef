// The engine's part that looks for cycles of waiting owners.
#include <utility>

#include "core/engine.hpp"
#include "core/wait_graph.hpp"

namespace holdfast::core {

// Queue first, then look: whoever queues last sees the whole cycle.
void engine::look_for_deadlock(claim_state& claim, base::instant now) {
    claim.cold().seen.clear();
    seam::inspect first;
    first.waited_for = true;
    send({.purpose = purpose::look, .sent = now, .subject = claim.subject.id.number},
         std::move(first));
}

void engine::on_look(claim_state& claim, seam::reply const& answer, base::instant now) {
    auto const* const page = std::get_if<seam::page>(&answer.body);
    if (page == nullptr || claim.at() != claim_phase::waiting) return;
    for (lock_info const& name : page->names)  // without their cells
        claim.cold().seen.push_back(name);
    if (!page->next.empty()) {
        seam::inspect rest;
        rest.waited_for = true;
        rest.after = page->next;
        return send({.purpose = purpose::look, .sent = now, .subject = claim.subject.id.number},
                    std::move(rest));
    }
    auto const names = std::exchange(claim.cold().seen, {});
    auto const id = seam::to_string(claim.subject.id);
    auto const cycle = find_cycle(names, id);
    if (!is_youngest(cycle, id)) return;
    std::string words = "waiting for '" + claim.terms->spec->name + "' closes a cycle:";
    for (auto const& step : cycle)
        words += " " + step.waiter.owner + " waits for '" + step.name + "';";
    words.pop_back();
    fail_queue(claim, {errc::would_deadlock, words}, now);
}

}  // namespace holdfast::core
