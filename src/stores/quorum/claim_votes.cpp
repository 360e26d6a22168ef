#include "stores/quorum/claim_votes.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Nobody waits for what is given back.
constexpr milliseconds patience_in_background{2000};

constexpr char const* not_by_votes =
    "a quorum has mutexes, recursive and shared ones, without a fair order; nothing else can be "
    "voted on";

// After a lease is over by the slowest of the clocks that are allowed, and what was under way has arrived.
nanoseconds surely_over(milliseconds lease) {
    auto const span = 2 * nanoseconds{lease};
    return span + span / drift + std::chrono::seconds{1};
}

}  // namespace

// Above all that was ever granted: ballots follow the members' clocks, of which this is the highest that is known.
seam::sequence claim_votes::next_ballot(base::instant now) {
    for (auto const& each : members_)
        if (each.clock)
            highest_ballot_ = std::max(
                highest_ballot_,
                static_cast<std::uint64_t>(each.latest_time(now).time_since_epoch().count()));
    return seam::sequence{++highest_ballot_};
}

base::instant claim_votes::moment_of(seam::store_time when, base::instant now) {
    constexpr std::chrono::hours far{1};
    if (when > store_time_of(now + far)) return now + far;
    return base::instant{std::chrono::duration_cast<nanoseconds>(when.time_since_epoch())};
}

std::optional<base::error> claim_votes::refusal_of(seam::claim_spec const& spec) const {
    if (spec.kind != lock_kind::lock || spec.mode == claim_mode::permits ||
        spec.order == ordering::fair)
        return base::error{errc::unsupported, not_by_votes};
    if (spec.lease > membership_.agreed().longest_lease)
        return base::error{errc::bad_option,
                           "a lease of " + std::to_string(spec.lease.count()) +
                               " ms is longer than the longest that this quorum gives, " +
                               std::to_string(membership_.agreed().longest_lease.count()) +
                               " ms; ask for less, or give all clients a larger max_lease in "
                               "their store URL"};
    return std::nullopt;
}

// --- submit --------------------------------------------------------------------------------------

void claim_votes::submit(seam::request_id id, seam::submit const& what, base::instant now) {
    if (auto const no = refusal_of(*what.subject.spec))
        return rounds_.reply(id, seam::failure{*no}, now);
    if (auto const* const other = membership_.disagreeing())
        return rounds_.reply(
            id, seam::refused{.why = seam::refusal::limit_mismatch, .text = other->trouble.text},
            now);
    auto const until = moment_of(what.not_after, now);
    if (until <= now) return rounds_.reply(id, seam::refused{.why = seam::refusal::too_late}, now);
    if (auto const found = claims_.find(what.subject.id); found != claims_.end()) {
        auto& known = found->second;
        if (known.at == claim_entry::phase::held)  // it came twice
            return rounds_.reply(id, seam::granted{{known.number, store_time_of(known.began)}},
                                 now);
        if (known.at == claim_entry::phase::voting) {
            stop_vote(known, now);
            give_back(known, now);
        }
        claims_.erase(found);
    }
    if (membership_.voters() < rounds_.majority()) {
        membership_.prepare_all(now);
        return rounds_.reply(id, rounds_.no_majority(nullptr), now);
    }
    auto& entry = claims_[what.subject.id];
    entry.subject = {what.subject.spec, {self_, ++last_claim_}, what.subject.actor};
    entry.lease = what.subject.spec->lease;
    entry.number = next_ballot(now);
    entry.copies.resize(rounds_.size());
    auto& in = rounds_.open(
        id, now,
        [this, of = what.subject.id, attempt = entry.subject.id](
            round& of_vote, base::instant when) { judge_submit(of, attempt, of_vote, when); });
    entry.round = in.number;
    put_to_vote(entry, in, until, now);
}

void claim_votes::put_to_vote(claim_entry& entry, round& in, base::instant until,
                              base::instant now) {
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const& to = members_[i];
        if (!to.has_vote()) {
            in.votes[i] = {.is = vote::state::failed, .why = to.trouble};
            membership_.prepare(i, now);
            continue;
        }
        auto& copy = entry.copies[i];
        copy = {judge_.not_after(*to.clock, until), to.clock->clock, true};
        rounds_.ask(in, i,
                    seam::submit{.subject = entry.subject,
                                 .not_after = copy.not_after,
                                 .clock = copy.clock,
                                 .ballot = entry.number},
                    std::min<nanoseconds>(to.patience(entry.lease), until - now), now);
    }
}

void claim_votes::judge_submit(seam::claim_id of, seam::claim_id attempt, round& in,
                               base::instant now) {
    auto const found = claims_.find(of);
    if (found == claims_.end() || found->second.subject.id != attempt) return;
    auto& entry = found->second;
    std::map<seam::sequence, std::size_t> numbers;  // those of a hold that is joined are its own
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const& each = in.votes[i];
        if (each.is != vote::state::answered) continue;
        entry.copies[i].unanswered = false;
        if (auto const* const yes = std::get_if<seam::granted>(&each.answer))
            ++numbers[yes->held.number];
        if (auto const* const no = std::get_if<seam::refused>(&each.answer))
            highest_ballot_ = std::max(highest_ballot_, static_cast<std::uint64_t>(no->ballot));
    }
    if (!in.asker) return;
    auto const best =
        std::ranges::max_element(numbers, {}, [](auto const& each) { return each.second; });
    auto const votes = best == numbers.end() ? 0 : best->second;
    if (votes >= rounds_.majority()) return on_majority(entry, of, best->first, in, now);
    if (votes + in.pending() < rounds_.majority()) on_no_majority(of, in, now);
}

void claim_votes::on_majority(claim_entry& entry, seam::claim_id of, seam::sequence number,
                              round& in, base::instant now) {
    entry.began = judge_.began(in.sent, now);
    if (now >= entry.began + entry.lease - nanoseconds{entry.lease} / drift) {
        auto const late = std::move(entry);
        claims_.erase(of);
        rounds_.answer(in, seam::refused{.why = seam::refusal::too_late}, now);
        return give_back(late, now);
    }
    entry.at = claim_entry::phase::held;
    entry.number = number;
    by_attempt_[entry.subject.id] = of;
    watches_.note_vote(entry.subject.name(), false);
    rounds_.answer(in, seam::granted{{number, store_time_of(entry.began)}}, now);
}

void claim_votes::on_no_majority(seam::claim_id of, round& in, base::instant now) {
    auto const lost = std::move(claims_.at(of));
    claims_.erase(of);
    if (in.count_of<seam::granted>() > 0) watches_.note_vote(lost.subject.name(), true);
    rounds_.answer(in, reason_of(in), now);
    give_back(lost, now);
}

seam::reply_body claim_votes::reason_of(round const& in) const {
    if (in.answered() + in.pending() < rounds_.majority()) return rounds_.no_majority(&in);
    for (auto const why : {seam::refusal::kind_mismatch, seam::refusal::too_late}) {
        auto const same = [why](seam::refused const& no) { return no.why == why; };
        if (in.count_of<seam::refused>(same) + in.count_of<seam::granted>() < rounds_.majority())
            continue;
        for (auto const& each : in.votes)
            if (auto const* const no = std::get_if<seam::refused>(&each.answer);
                each.is == vote::state::answered && no != nullptr && same(*no))
                return *no;
    }
    return seam::refused{};
}

// Nobody waits for its result any more.
void claim_votes::stop_vote(claim_entry const& entry, base::instant now) {
    auto* const in = rounds_.find(entry.round);
    if (in == nullptr) return;
    rounds_.answer(*in, seam::refused{.why = seam::refusal::too_late}, now);
    in->judge = nullptr;
}

// --- settle --------------------------------------------------------------------------------------

// A member that has not answered may carry the submit out yet: it gets a tombstone.
void claim_votes::end_at_members(claim_entry const& entry, milliseconds keep_for, round& in,
                                 base::instant now) {
    in.ends.resize(rounds_.size());
    auto const over = now + surely_over(entry.lease) + keep_for;
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const& copy = entry.copies[i];
        auto& end = in.ends[i];
        end = {.subject = entry.subject, .over = over};
        if (copy.unanswered) {
            if (!judge_.gives_back_unanswered()) continue;
            end.tombstone_until = copy.not_after;
            end.clock = copy.clock;
        }
        rounds_.ask(in, i,
                    seam::settle{.subject = entry.subject,
                                 .keep_for = keep_for,
                                 .tombstone_until = end.tombstone_until,
                                 .clock = end.clock},
                    in.asker ? members_[i].patience(entry.lease) : patience_in_background, now);
    }
}

void claim_votes::give_back(claim_entry const& entry, base::instant now) {
    by_attempt_.erase(entry.subject.id);
    end_at_members(entry, milliseconds::zero(), rounds_.open(std::nullopt, now, nullptr), now);
}

void claim_votes::settle(seam::request_id id, seam::settle const& what, base::instant now) {
    auto const found = claims_.find(what.subject.id);
    if (found == claims_.end()) return rounds_.reply(id, seam::settled{}, now);  // gone
    auto& entry = found->second;
    if (entry.at == claim_entry::phase::voting) stop_vote(entry, now);
    entry.at = claim_entry::phase::ending;
    entry.over = now + surely_over(entry.lease) + what.keep_for;
    next_sweep_ = std::min(next_sweep_, entry.over);
    auto& in =
        rounds_.open(id, now, [this, of = what.subject.id](round& of_end, base::instant when) {
            judge_settle(of, of_end, when);
        });
    end_at_members(entry, what.keep_for, in, now);
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

void claim_votes::pay_owed(std::size_t to, base::instant now) {
    if (members_[to].owed.empty()) return;
    for (auto& each : std::exchange(members_[to].owed, {})) {
        if (each.over <= now) continue;
        auto& in = rounds_.open(std::nullopt, now, nullptr);
        in.ends.resize(rounds_.size());
        in.ends[to] = each;
        rounds_.ask(in, to,
                    seam::settle{.subject = each.subject,
                                 .tombstone_until = each.tombstone_until,
                                 .clock = each.clock},
                    patience_in_background, now);
    }
}

claim_entry* claim_votes::find_held(seam::claim_id id) {
    auto const found = claims_.find(id);
    bool const held = found != claims_.end() && found->second.at == claim_entry::phase::held;
    return held ? &found->second : nullptr;
}

void claim_votes::end_lost(seam::claim_id id, base::instant now) {
    auto const found = claims_.find(id);
    if (found == claims_.end()) return;
    auto const lost = std::move(found->second);
    claims_.erase(found);
    give_back(lost, now);
}

std::optional<seam::claim_id> claim_votes::asker_of(seam::claim_id attempt) const {
    auto const found = by_attempt_.find(attempt);
    return found == by_attempt_.end() ? std::nullopt : std::optional{found->second};
}

void claim_votes::on_time(base::instant now) {
    if (now < next_sweep_) return;
    next_sweep_ = base::never;
    std::erase_if(claims_, [&](auto const& each) {
        if (each.second.over > now) {
            next_sweep_ = std::min(next_sweep_, each.second.over);
            return false;
        }
        by_attempt_.erase(each.second.subject.id);
        return true;
    });
}

}  // namespace holdfast::stores::quorum
