// The part of the engine that hears notices: what is pushed is a hint, and what it says is checked.
#include "core/notice_reader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/engine_parts.hpp"

namespace holdfast::core {

using phase = claim_phase;

void notice_reader::on_notice(seam::notice const& what, base::instant now) {
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        if (auto* const claim = find_own(granted->id)) on_granted(*claim, *granted, now);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        if (auto* const claim = find_own(gone->id)) on_gone(*claim, gone->why, now);
    } else if (auto const* const crowd = std::get_if<seam::name_contended>(&what)) {
        if (auto* const claim = find_own(crowd->id)) on_contended(*claim, now);
    } else if (auto const* const key = std::get_if<seam::changed>(&what)) {
        on_changed(key->key, now);
    } else if (auto const* const session = std::get_if<seam::session_changed>(&what)) {
        on_session(*session, now);
    }
}

claim_state* notice_reader::find_own(seam::claim_id id) const noexcept {
    return id.client == shared_.settings.self ? parts_.claims.find(id.number) : nullptr;
}

void notice_reader::on_granted(claim_state& claim, seam::claim_granted const& told,
                               base::instant now) {
    if (claim.settle_waits)
        return parts_.settlements.settle_now(claim, now);  // it holds what nobody wants
    if (claim.at() != phase::waiting && claim.at() != phase::submitting) return;
    auto const from = shared_.judge->source_of({claim.lane, told.clock});
    auto const* const reading = shared_.clocks.find(from.lane, from.clock);
    // A grant from before the store said that it waits has ended since: the message is an old one. A session's lease
    // began before its grants, which its store tells in order.
    bool const old = shared_.settings.abilities.per_claim_lease && told.clock == claim.clock &&
                     told.held.began < claim.seen_waiting;
    if (reading == nullptr || old ||
        !shared_.judge->can_have_begun(*reading, told.held.began, now)) {
        claim.hinted = !claim.in_store_line;
        if (claim.in_store_line) parts_.renewals.renew_now(claim, now);  // ask: it is a hint
        return;
    }
    auto const pair = shared_.judge->reading_for_notice(*reading, told.held.began, now);
    parts_.submits.on_granted(claim, told.held, {told.clock, pair}, now);
}

void notice_reader::on_gone(claim_state& claim, std::string const& why, base::instant now) {
    if (!take_up(claim, now)) return;
    if (claim.at() != phase::held && claim.at() != phase::waiting) return;
    claim.cold().gone_hint = why;
    if (claim.at() == phase::held && shared_.judge->notice_is_truth())
        return parts_.holds.lose(claim, why, now);
    if (claim.at() == phase::held || claim.in_store_line)
        parts_.renewals.renew_now(claim, now);  // it is a hint
}

void notice_reader::on_contended(claim_state& claim, base::instant now) {
    if (take_up(claim, now) && claim.at() == phase::held) claim.contended = true;
}

bool notice_reader::take_up(claim_state& claim, base::instant now) {
    if (claim.at() != phase::parked) return true;
    auto const found = parts_.parked.unpark(claim);
    if (found == parked_holds::state::free) parts_.settlements.settle(claim, now);
    return found == parked_holds::state::used;
}

// A watched name may be free: those who wait for it without the store's line try again. Those in the
// line ask when it will move.
void notice_reader::on_changed(seam::cell_key const& key, base::instant now) {
    parts_.watches.on_change(key, parts_.tasks);
    if (key.part != seam::holders_part) return;
    for (auto const number : parts_.claims.wanting(std::hash<std::string>{}(key.name))) {
        auto* const claim = parts_.claims.find(number);
        if (claim == nullptr || claim->terms->spec->name != key.name) continue;
        if (claim->at() == phase::submitting) claim->hinted = true;  // its answer may be older
        if (claim->at() != phase::waiting) continue;
        claim->in_store_line ? parts_.renewals.renew_now(*claim, now)
                             : parts_.submits.submit(*claim, now);
    }
}

// --- sessions ----------------------------------------------------------------------------------

void notice_reader::on_session(seam::session_changed const& what, base::instant now) {
    using state = seam::session_changed::state;
    if (what.became == state::restored) {
        parts_.claims.on_disconnection();
        parts_.watches.on_reconnection(parts_.tasks);
    }
    std::vector<claim_state*> to_renew;
    for (auto* const claim : concerned(what)) {
        switch (what.became) {
        case state::in_doubt: parts_.holds.doubt(*claim, now); break;
        case state::lost: on_session_end(*claim, what.why, now); break;
        case state::restored:
            if (claim->at() == phase::held || claim->at() == phase::confirming ||
                (claim->at() == phase::waiting && claim->in_store_line))
                to_renew.push_back(claim);
            break;
        }
    }
    parts_.renewals.want_all(to_renew, now);
    parts_.renewals.send_due(now);
}

std::vector<claim_state*> notice_reader::concerned(seam::session_changed const& what) const {
    if (what.claims.empty()) return parts_.claims.all();
    std::vector<claim_state*> out;
    for (auto const& id : what.claims)
        if (auto* const claim = find_own(id)) out.push_back(claim);
    std::ranges::sort(out, {}, [](claim_state const* claim) { return claim->subject.id.number; });
    return out;
}

// What was claimed in the session has ended with it, and whatever is under way for it finds it so.
void notice_reader::on_session_end(claim_state& claim, std::string const& why, base::instant now) {
    if (!shared_.judge->session_end_counts()) return;
    switch (claim.at()) {
    case phase::submitting: return;  // its request is answered by the store, or given up
    case phase::waiting:
        if (claim.in_store_line) parts_.holds.begin_anew(claim, now);
        return;
    case phase::confirming: return parts_.holds.begin_anew(claim, now);
    case phase::held: return parts_.holds.lose(claim, why, now);
    case phase::parked: return;  // only a store of this process parks, and that has no session
    case phase::over:
    case phase::ending:
        parts_.settlements.tell_release(claim, release_outcome::unknown);
        // A copy of the submit that is under way goes on in the next session: only a settlement behind it ends that.
        if (claim.unanswered == 0) return parts_.settlements.forget(claim);
        if (claim.at() == phase::over) parts_.settlements.settle(claim, now);
        return;
    }
}

}  // namespace holdfast::core
