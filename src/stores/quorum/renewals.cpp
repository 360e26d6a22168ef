#include "stores/quorum/renewals.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "seam/refusal_text.hpp"
#include "stores/quorum/eviction.hpp"
#include "stores/quorum/told_hold.hpp"

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using status = seam::renewal::status;

constexpr milliseconds most_patience{3000};

// What a member said of one of the claims.
seam::renewal const* said_of(vote const& by, std::size_t place) {
    if (by.is != vote::state::answered) return nullptr;
    auto const* const all = std::get_if<seam::renewed>(&by.answer);
    return all == nullptr || place >= all->items.size() ? nullptr : &all->items[place];
}

std::size_t count_said(round const& in, std::size_t place, status wanted) {
    std::size_t out = 0;
    for (auto const& each : in.votes)
        if (auto const* const said = said_of(each, place)) out += said->found == wanted ? 1U : 0U;
    return out;
}

}  // namespace

void renewals::renew(seam::request_id id, seam::renew const& what, base::instant now) {
    auto items = std::make_shared<std::vector<renewed_claim>>();
    seam::renew at_members;
    auto shortest = longest_lease_;
    for (auto const& each : what.items) {
        auto* const found = claims_.find_held(each.subject.id);
        auto& item = items->emplace_back();
        item.id = each.subject.id;
        item.known = found != nullptr;
        if (!item.known) continue;
        item.place = at_members.items.size();
        item.lease = std::min(each.lease, longest_lease_);
        found->longest_lease = std::max(found->longest_lease, item.lease);
        shortest = std::min(shortest, item.lease);
        at_members.items.push_back({found->subject, item.lease});
    }
    if (at_members.items.empty()) {
        seam::renewed none;
        none.items.resize(items->size());
        return rounds_.reply(id, std::move(none), now);
    }
    auto const hurry_from = now + nanoseconds{shortest} / 2;
    auto& in = rounds_.open(id, now, [this, items, hurry_from](round& of, base::instant when) {
        judge_renew(*items, of, when >= hurry_from, when);
    });
    rounds_.remind(in, hurry_from);
    // A majority answers when it does, so that a silent member delays nothing. An answer that is late still counts from when
    // it was asked for; the engine asks again without waiting for it.
    nanoseconds const patience =
        std::clamp<nanoseconds>(nanoseconds{shortest} / 10 * 9, least_patience, most_patience);
    at_members.answer_within = what.answer_within;
    for (std::size_t i = 0; i < rounds_.size(); ++i)
        rounds_.ask(in, i, at_members, patience, now);
}

// A claim that a minority holds, and a silent member may hold, does not keep the answer back from all others of the batch
// until their leases end.
void renewals::judge_renew(std::vector<renewed_claim>& items, round& in, bool hurries,
                           base::instant now) {
    bool decided = true;
    bool any = false;
    for (auto const& item : items) {
        if (!item.known) continue;
        note_missing(item, in, now);
        auto const alive = count_said(in, item.place, status::alive);
        auto const gone = count_said(in, item.place, status::gone);
        bool const sure = alive >= rounds_.majority() || gone > rounds_.size() - rounds_.majority();
        decided = decided && sure;
        any = any || sure;
    }
    if (in.asker && (decided || (hurries && any) || in.pending() == 0)) {
        seam::renewed out;
        for (auto& item : items)
            out.items.push_back(renewal_of(item, in, now));
        rounds_.answer(in, std::move(out), now);
    }
    if (in.asker) return;
    for (auto& item : items)
        if (item.known && count_said(in, item.place, status::alive) >= rounds_.majority())
            repair(item, in, now);
}

// Each word counts once, and none that comes after a word on a later question. It is missing since it was heard to be: not
// since it was asked for, when it may have been there.
void renewals::note_missing(renewed_claim const& item, round const& in, base::instant now) {
    auto* const held = claims_.find_held(item.id);
    if (held == nullptr) return;
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const* const said = said_of(in.votes[i], item.place);
        bool const alive = said != nullptr && said->found == status::alive;
        bool const gone = said != nullptr && said->found == status::gone;
        auto& copy = held->copies[i];
        if ((!alive && !gone) || in.number <= copy.heard_in) continue;
        copy.heard_in = in.number;
        copy.missing_since = alive ? base::never : std::min(copy.missing_since, now);
    }
}

seam::renewal renewals::renewal_of(renewed_claim& item, round const& in, base::instant now) {
    auto* const held = item.known ? claims_.find_held(item.id) : nullptr;
    if (held == nullptr) return {};
    auto& entry = *held;
    if (count_said(in, item.place, status::alive) >= rounds_.majority()) {
        std::vector<told_hold> alive;
        for (auto const& each : in.votes)
            if (auto const* const said = said_of(each, item.place);
                said != nullptr && said->found == status::alive)
                alive.push_back({said->held, each.now});
        entry.began =
            judge_.began(in.sent, now) - used_up_of(alive, item.lease, rounds_.majority());
        entry.lease = item.lease;
        claims_.keep(entry, now);
        return {
            .found = status::alive,
            .held = {
                .number = entry.number, .began = store_time_of(entry.began), .lease = item.lease}};
    }
    if (count_said(in, item.place, status::gone) <= rounds_.size() - rounds_.majority())
        return {.found = status::unknown};
    claims_.mark_lost(item.id, now);
    return {};
}

// A member that has lost the claim gets it again while a majority holds it: then no other claim can have one, and
// what this member adds begins before that majority's leases end. Not before it has been missing for so long that no
// eviction is under way any more: by then all members that were to hear of it have, and there is no majority.
void renewals::repair(renewed_claim& item, round const& in, base::instant now) {
    auto* const held = claims_.find_held(item.id);
    if (held == nullptr) return;
    auto& entry = *held;
    auto const until = std::min(in.sent, entry.began) + entry.lease - nanoseconds{entry.lease} / 10;
    if (until <= now) return;
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const& at = members_[i];
        auto const* const said = said_of(in.votes[i], item.place);
        bool const lacks = said != nullptr && said->found == status::gone;
        bool const known =
            at.clock && (at.state == standing::voting || at.state == standing::sitting_out);
        auto& copy = entry.copies[i];
        bool const long_enough =
            base::after(copy.missing_since, repair_delay(longest_lease_)) <= in.sent;
        if (!lacks || !known || !long_enough || !item.repaired.insert(i).second) continue;
        auto spec = std::make_shared<seam::claim_spec>(*entry.subject.spec);
        spec->lease = entry.lease;
        // No ballot is compared, so that another copy of the request would be carried out like the first.
        // The first one may be carried out later than this one, where leases are short.
        auto const first = copy.clock == at.clock->clock ? copy.not_after : seam::store_time{};
        copy.is = claim_entry::copy::state::answered;
        copy.not_after = std::max(first, judge_.not_after(*at.clock, until));
        copy.clock = at.clock->clock;
        auto& again = rounds_.open(std::nullopt, now, nullptr);
        rounds_.ask(
            again, i,
            seam::submit{.subject = {std::move(spec), entry.subject.id, entry.subject.actor},
                         .not_after = copy.not_after,
                         .clock = copy.clock,
                         .ballot = entry.number,
                         .repairs = true},
            patience_in_background, now);
    }
}

// --- convert -------------------------------------------------------------------------------------

void renewals::convert(seam::request_id id, seam::convert const& what, base::instant now) {
    auto const* const found = claims_.find_held(what.subject.id);
    if (found == nullptr)
        return rounds_.reply(
            id, seam::refused{.why = seam::refusal::gone, .text = std::string{seam::not_held_text}},
            now);
    auto at_members = what;
    at_members.subject = found->subject;
    auto& in = rounds_.open(id, now, [this, what](round& of, base::instant when) {
        judge_convert(what.subject.id, what, of, when);
    });
    rounds_.ask_all(in, at_members, found->lease, now);
}

// A minority that did not convert has the stronger hold, which is in the way of others and harms nobody.
void renewals::judge_convert(seam::claim_id of, seam::convert const& what, round& in,
                             base::instant now) {
    if (!in.asker) return;
    auto* const found = claims_.find_held(of);
    if (in.count_of<seam::converted>() >= rounds_.majority() && found != nullptr) {
        auto& entry = *found;
        auto spec = std::make_shared<seam::claim_spec>(*entry.subject.spec);
        spec->mode = what.mode;
        spec->permits = what.permits;
        entry.subject.spec = std::move(spec);
        return rounds_.answer(in, seam::converted{{entry.number, store_time_of(entry.began)}}, now);
    }
    for (auto const why : {seam::refusal::would_deadlock, seam::refusal::gone}) {
        auto const same = [why](seam::refused const& no) { return no.why == why; };
        if (in.count_of<seam::refused>(same) <= rounds_.size() - rounds_.majority()) continue;
        auto const& text = why == seam::refusal::gone ? seam::not_held_text : seam::stronger_text;
        return rounds_.answer(in, seam::refused{.why = why, .text = std::string{text}}, now);
    }
    if (in.pending() == 0) rounds_.answer(in, rounds_.no_majority(&in), now);
}

}  // namespace holdfast::stores::quorum
