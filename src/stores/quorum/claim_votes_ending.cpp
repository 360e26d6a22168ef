// How claims that are held end: settled, lost, or forgotten when their leases are over.
#include <algorithm>
#include <utility>

#include "stores/quorum/claim_votes.hpp"

namespace holdfast::stores::quorum {

void claim_votes::settle(seam::request_id id, seam::settle const& what, base::instant now) {
    auto const found = claims_.find(what.subject.id);
    if (found == claims_.end()) return rounds_.reply(id, seam::settled{}, now);  // gone
    auto& entry = found->second;
    auto const keep_for =
        std::min(what.keep_for, judge_.longest_kept(membership_.agreed().longest_lease));
    if (entry.at == claim_entry::phase::voting) stop_vote(entry, now);
    if (std::exchange(entry.at, claim_entry::phase::ending) != claim_entry::phase::ending)
        entry.over = claim_endings::surely_over(entry.longest_lease, now) + keep_for;
    next_sweep_ = std::min(next_sweep_, entry.over);
    auto& in =
        rounds_.open(id, now, [this, of = what.subject.id](round& of_end, base::instant when) {
            judge_settle(of, of_end, when);
        });
    endings_.end_at_members(entry, keep_for, in, now);
}

void claim_votes::judge_settle(seam::claim_id of, round& in, base::instant now) {
    if (!in.asker) return;
    auto const released = in.count_of<seam::settled>(
        [](auto const& each) { return each.how == seam::ending::released; });
    auto const gone = in.count_of<seam::settled>() - released;
    if (released < rounds_.majority() && gone <= rounds_.size() - rounds_.majority()) {
        // One that was not answered is asked again: then it has been released, or is gone.
        if (in.pending() == 0) rounds_.answer(in, rounds_.no_majority(&in), now);
        return;
    }
    if (auto const found = claims_.find(of); found != claims_.end()) {
        by_attempt_.erase(found->second.subject.id);
        claims_.erase(found);
    }
    rounds_.answer(
        in,
        seam::settled{released >= rounds_.majority() ? seam::ending::released : seam::ending::gone},
        now);
}

void claim_votes::keep(claim_entry& entry, base::instant now) {
    entry.over = claim_endings::surely_over(entry.longest_lease, now);
    next_sweep_ = std::min(next_sweep_, entry.over);
}

claim_entry* claim_votes::find_held(seam::claim_id id) {
    auto const found = claims_.find(id);
    bool const held = found != claims_.end() && found->second.at == claim_entry::phase::held;
    return held ? &found->second : nullptr;
}

void claim_votes::mark_lost(seam::claim_id id, base::instant now) {
    auto const found = claims_.find(id);
    if (found == claims_.end()) return;
    auto& entry = found->second;
    entry.at = claim_entry::phase::ending;
    keep(entry, now);
    by_attempt_.erase(entry.subject.id);
}

void claim_votes::on_time(base::instant now) {
    if (now < next_sweep_) return;
    next_sweep_ = base::never;
    std::erase_if(claims_, [&](auto const& each) {
        if (each.second.over > now) {
            next_sweep_ = std::min(next_sweep_, each.second.over);
            return false;
        }
        // Its holder has lost it long since, and settles no claim that ends by itself. In a session of the client it lives on.
        if (each.second.at == claim_entry::phase::held) endings_.give_back(each.second, now);
        by_attempt_.erase(each.second.subject.id);
        return true;
    });
}

}  // namespace holdfast::stores::quorum
