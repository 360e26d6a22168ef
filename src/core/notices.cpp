// The engine's part that hears notices: what is pushed is a hint, and what it says is checked.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/engine.hpp"

namespace holdfast::core {

using phase = claim_phase;

void engine::on_notice(seam::notice const& what, base::instant now) {
    turn const at{*this, now};
    auto const ours = [&](seam::claim_id id) {
        return id.client == set_.self ? find(id.number) : nullptr;
    };
    if (auto const* const granted = std::get_if<seam::claim_granted>(&what)) {
        if (auto* const claim = ours(granted->id)) on_pushed_grant(*claim, *granted, now);
    } else if (auto const* const gone = std::get_if<seam::claim_gone>(&what)) {
        if (auto* const claim = ours(gone->id)) on_gone(*claim, gone->why, now);
    } else if (auto const* const crowd = std::get_if<seam::name_contended>(&what)) {
        if (auto* const claim = ours(crowd->id)) on_contended(*claim, now);
    } else if (auto const* const key = std::get_if<seam::changed>(&what)) {
        on_changed(key->key, now);
    } else if (auto const* const session = std::get_if<seam::session_changed>(&what)) {
        on_session(*session, now);
    }
}

void engine::on_pushed_grant(claim_state& claim, seam::claim_granted const& told,
                             base::instant now) {
    if (claim.settle_waits) return settle_now(claim, now);  // it holds what nobody wants
    if (claim.at() != phase::waiting && claim.at() != phase::submitting) return;
    auto const from = judge_->source_of({claim.lane, told.clock});
    auto const* const reading = clocks_.find(from.lane, from.clock);
    // A grant from before the store said that it waits has ended since: the message is an old one.
    bool const old = told.clock == claim.clock && told.held.began < claim.seen_waiting;
    if (reading == nullptr || old || !judge_->can_have_begun(*reading, told.held.began, now)) {
        claim.hinted = !claim.in_store_line;
        if (claim.in_store_line) renew_now(claim, now);  // ask: it is a hint
        return;
    }
    auto const pair = judge_->reading_for_notice(*reading, told.held.began, now);
    on_granted(claim, told.held, {told.clock, pair}, now);
}

void engine::on_gone(claim_state& claim, std::string const& why, base::instant now) {
    if (claim.at() != phase::held && claim.at() != phase::waiting) return;
    claim.cold().gone_hint = why;
    if (claim.at() == phase::held && judge_->notice_is_truth()) return lose(claim, why, now);
    if (claim.at() == phase::held || claim.in_store_line) renew_now(claim, now);  // it is a hint
}

void engine::on_contended(claim_state& claim, base::instant now) {
    if (claim.at() == phase::parked) {
        auto const found = unpark(claim);
        if (found == parked_state::free) settle(claim, now);
        if (found != parked_state::used) return;
    }
    if (claim.at() == phase::held) claim.contended = true;
}

// A watched name may be free: those who wait for it without the store's line try again. Those in the
// line ask when it will move.
void engine::on_changed(seam::cell_key const& key, base::instant now) {
    watches_.on_change(key, tasks_);
    if (key.part != seam::holders_part) return;
    for (auto const number : waiting_.find(std::hash<std::string>{}(key.name))) {
        auto* const claim = find(number);
        if (claim == nullptr || claim->terms->spec->name != key.name) continue;
        if (claim->at() == phase::submitting) claim->hinted = true;  // its answer may be older
        if (claim->at() != phase::waiting) continue;
        claim->in_store_line ? renew_now(*claim, now) : submit(*claim, now);
    }
}

// --- sessions ----------------------------------------------------------------------------------

void engine::on_session(seam::session_changed const& what, base::instant now) {
    using state = seam::session_changed::state;
    if (what.became == state::restored) {
        name_watches_.on_disconnection();
        watches_.on_reconnection(tasks_);
    }
    for (auto* const claim : concerned(what)) {
        switch (what.became) {
        case state::in_doubt: doubt(*claim, now); break;
        case state::lost: on_session_end(*claim, what.why, now); break;
        case state::restored:
            if (claim->at() == phase::held || claim->at() == phase::confirming ||
                (claim->at() == phase::waiting && claim->in_store_line))
                want_renewal(*claim, now);
            break;
        }
    }
    send_renewals(now);
}

std::vector<claim_state*> engine::concerned(seam::session_changed const& what) {
    std::vector<claim_state*> out;
    for (auto const& id : what.claims)
        if (auto* const claim = id.client == set_.self ? find(id.number) : nullptr)
            out.push_back(claim);
    if (what.claims.empty())
        for (auto const& [number, claim] : claims_)
            out.push_back(claim);
    std::ranges::sort(out, {}, [](claim_state const* claim) { return claim->subject.id.number; });
    return out;
}

// Nothing is proven either way until the next answer. The deadline stands.
void engine::doubt(claim_state& claim, base::instant now) {
    bool const at_store = claim.at() == phase::held || claim.at() == phase::confirming ||
                          (claim.at() == phase::waiting && claim.in_store_line);
    if (!at_store || claim.failures > 0) return;
    claim.failures = 1;
    if (claim.at() != phase::held) {
        if (claim.silent_since == base::never) claim.silent_since = now;
        return reschedule(claim);
    }
    ++metrics_.doubts;
    if (claim.hold != nullptr) claim.hold->extend(claim.lost_at(), true);
}

// What was claimed in the session has ended with it, and whatever is under way for it finds it so.
void engine::on_session_end(claim_state& claim, std::string const& why, base::instant now) {
    if (!judge_->session_end_counts()) return;
    switch (claim.at()) {
    case phase::submitting: return;  // its request is answered by the store, or given up
    case phase::waiting:
        if (claim.in_store_line) begin_anew(claim, now);
        return;
    case phase::confirming: return begin_anew(claim, now);
    case phase::held: return lose(claim, why, now);
    case phase::parked: return;  // only a store of this process parks, and that has no session
    case phase::over:
    case phase::ending: tell_release(claim, release_outcome::unknown); return destroy(claim);
    }
}

}  // namespace holdfast::core
