#include "core/claim_table.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::core {

claim_table::~claim_table() {
    for (auto const& [number, claim] : claims_) {
        if (claim->queue != nullptr) claim->queue->current = nullptr;
        if (claim->hold != nullptr) claim->hold->held_by = nullptr;
        if (claim->released != nullptr) claim->released->held_by = nullptr;
        claim->renew_calls.clear();
        claim->releasing.clear();
        delete claim;
    }
}

claim_state& claim_table::add(std::shared_ptr<wait_queue> const& queue) {
    // Threads that hand a hold on are nobody in particular.
    auto const actor = queue->terms->sharable() ? seam::actor_id{} : queue->waiting.front().actor;
    seam::claim_id const id{shared_.settings.self, numbers_.next_with_index()};
    seam::claim subject{queue->terms->spec, id, actor};
    auto* const claim = new claim_state{std::move(subject), queue->terms};
    claims_.emplace(claim->subject.id.number, claim);
    claim->queue = queue;
    queue->current = claim;
    if (queue->bias != nullptr) claim->generation = queue->bias->revocation().begin();
    claim->watches_name = name_watches_.join(queue->terms->spec->name);
    return *claim;
}

claim_state* claim_table::find(std::uint64_t number) const noexcept {
    auto const found = claims_.find(number);
    return found == claims_.end() ? nullptr : found->second;
}

std::vector<claim_state*> claim_table::all() const {
    std::vector<claim_state*> out;
    out.reserve(claims_.size());
    for (auto const& [number, claim] : claims_)
        out.push_back(claim);
    std::ranges::sort(out, {}, [](claim_state const* claim) { return claim->subject.id.number; });
    return out;
}

void claim_table::remove(claim_state& claim) {
    shared_.timers.remove(claim);
    finish_renew_calls(claim);
    if (claim.hold != nullptr) claim.hold->held_by = nullptr;
    if (claim.released != nullptr) claim.released->held_by = nullptr;
    if (claim.queue != nullptr && claim.queue->current == &claim) claim.queue->current = nullptr;
    if (claim.listed) waiting_.remove(claim.terms->spec->hash, claim.subject.id.number);
    unwatch_name(claim);
    claims_.erase(claim.subject.id.number);
    numbers_.give_back(claim.subject.id);
    delete &claim;
}

void claim_table::enter(claim_state& claim, claim_phase next) {
    claim.enter(next);
    bool const wants = next == claim_phase::submitting || next == claim_phase::waiting;
    if (wants != claim.listed) {
        claim.listed = wants;
        auto const hash = claim.terms->spec->hash;
        wants ? waiting_.add(hash, claim.subject.id.number)
              : waiting_.remove(hash, claim.subject.id.number);
    }
    bool const others_wait_behind = claim.queue != nullptr && claim.queue->has_several_waiting();
    bool const is_for_them = next == claim_phase::held && others_wait_behind;
    if (!wants && !is_for_them) unwatch_name(claim);
}

void claim_table::watch_name(claim_state& claim, base::instant now) {
    auto const& name = claim.terms->spec->name;
    bool const ask = std::exchange(claim.watches_name, true) ? name_watches_.ask_again(name)
                                                             : name_watches_.add(name);
    if (!ask) return;
    seam::cell_key key{claim.terms->spec->kind, name, seam::holders_part};
    shared_.send({.purpose = request_purpose::watch, .sent = now, .lane = claim.lane},
                 seam::watch{std::move(key)});
}

void claim_table::unwatch_name(claim_state& claim) {
    if (!std::exchange(claim.watches_name, false)) return;
    auto const& spec = *claim.terms->spec;
    // Who is given the hold has waited for it until now.
    bool const others =
        claim.queue != nullptr && claim.at() != claim_phase::held && !claim.queue->waiting.empty();
    if (!name_watches_.remove(spec.name, others && !shared_.closed) || shared_.closed) return;
    seam::cell_key key{spec.kind, spec.name, seam::holders_part};
    if (cell_watches_.has(key)) return;  // a task watches the same
    shared_.send({.purpose = request_purpose::watch, .sent = shared_.now, .lane = claim.lane},
                 seam::unwatch{std::move(key)});
}

void claim_table::finish_renew_calls(claim_state& claim, base::instant sent) {
    while (!claim.renew_calls.empty() && claim.renew_calls.front().asked <= sent) {
        auto& call = claim.renew_calls.front();
        claim.renew_calls.pop_front();
        call.done = true;
        shared_.completed(call.to);
    }
}

}  // namespace holdfast::core
