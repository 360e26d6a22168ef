#include "stores/quorum/claim_votes.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "stores/quorum/told_hold.hpp"
#include "stores/quorum/vote_reason.hpp"

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

using copy_state = claim_entry::copy::state;

// A request that comes later than that takes no effect: the vote is over by then. Readings of clocks may be old, so that
// it is no less.
constexpr milliseconds least_time_to_arrive{500};
// What the engine takes off a lease, besides the drift.
constexpr milliseconds margin{2};
// Whoever is outvoted was told what to exceed.
constexpr int most_votes = 4;

constexpr char const* not_by_votes =
    "a quorum has mutexes, recursive and shared ones, without a fair order; nothing else can be "
    "voted on";

}  // namespace

// Ballots follow the highest of the members' clocks that are known, and are above all that was told.
seam::sequence claim_votes::next_ballot(base::instant now) {
    for (auto const& each : members_)
        if (each.clock)
            highest_ballot_ = std::max(
                highest_ballot_,
                static_cast<std::uint64_t>(each.time_for_ballot(now).time_since_epoch().count()));
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
    auto const until = moment_of(what.not_after, now);
    if (until <= now) return rounds_.reply(id, seam::refused{.why = seam::refusal::too_late}, now);
    if (auto const found = claims_.find(what.subject.id); found != claims_.end()) {
        auto& known = found->second;
        if (known.at == claim_entry::phase::held)  // it came twice
            return rounds_.reply(id, seam::granted{{known.number, store_time_of(known.began)}},
                                 now);
        if (known.at == claim_entry::phase::voting) stop_vote(known, now);
        endings_.give_back(known, now);
        claims_.erase(found);
    }
    if (auto const* const same = membership_.doubling())
        return rounds_.reply(id, seam::failure{*same}, now);
    if (membership_.voters() < rounds_.majority()) {
        membership_.prepare_all(now);
        if (auto const* const other = membership_.disagreement())
            return rounds_.reply(
                id, seam::refused{.why = seam::refusal::limit_mismatch, .text = other->text}, now);
        return rounds_.reply(id, rounds_.no_majority(nullptr), now);
    }
    auto& entry = claims_[what.subject.id];
    entry.subject = {what.subject.spec, {}, what.subject.actor};
    entry.lease = entry.longest_lease = what.subject.spec->lease;
    entry.until = until;
    begin_vote(id, what.subject.id, entry, now);
}

void claim_votes::begin_vote(seam::request_id asker, seam::claim_id of, claim_entry& entry,
                             base::instant now) {
    entry.subject.id = {self_, ++last_claim_};
    entry.number = next_ballot(now);
    entry.copies.assign(rounds_.size(), {});
    auto& in = rounds_.open(
        asker, now, [this, of, attempt = entry.subject.id](round& of_vote, base::instant when) {
            judge_submit(of, attempt, of_vote, when);
        });
    entry.round = in.number;
    put_to_vote(entry, in, now);
    if (in.pending() > 0) return;
    // All members may have lost their votes since the vote before: then no answer comes by which it would be judged.
    auto const number = in.number;
    judge_submit(of, entry.subject.id, in, now);
    rounds_.close_if_over(number);
}

void claim_votes::put_to_vote(claim_entry& entry, round& in, base::instant now) {
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const& to = members_[i];
        if (!to.has_vote()) {
            in.votes[i] = {.is = vote::state::failed, .why = to.trouble};
            membership_.prepare(i, now);
            continue;
        }
        auto const patience = std::min<nanoseconds>(to.patience(entry.lease), entry.until - now);
        auto const last = now + std::max<nanoseconds>(patience, least_time_to_arrive);
        auto& copy = entry.copies[i];
        copy = {copy_state::unanswered, judge_.not_after(*to.clock, std::min(last, entry.until)),
                to.clock->clock};
        rounds_.ask(in, i,
                    seam::submit{.subject = entry.subject,
                                 .not_after = copy.not_after,
                                 .clock = copy.clock,
                                 .ballot = entry.number},
                    patience, now);
    }
}

void claim_votes::judge_submit(seam::claim_id of, seam::claim_id attempt, round& in,
                               base::instant now) {
    auto const found = claims_.find(of);
    if (found == claims_.end() || found->second.subject.id != attempt) return;
    auto& entry = found->second;
    note_missing(entry, in, now);
    std::map<seam::sequence, std::size_t> numbers;  // those of a hold that is joined are its own
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto& each = in.votes[i];
        if (each.is != vote::state::answered) continue;
        auto const* const yes = std::get_if<seam::granted>(&each.answer);
        // It was asked while it had a vote, and turned out meanwhile to have lost its data: the copy is ended like one that
        // was never answered.
        if (yes != nullptr && !each.by_voter) {
            each.is = vote::state::failed;
            each.why = members_[i].trouble;
            continue;
        }
        if (yes != nullptr) ++numbers[yes->held.number];
        if (entry.copies[i].is == copy_state::unanswered)
            entry.copies[i].is = yes != nullptr && yes->held.number == entry.number
                                     ? copy_state::granted
                                     : copy_state::answered;
        if (auto const* const no = std::get_if<seam::refused>(&each.answer))
            highest_ballot_ = std::max(highest_ballot_, static_cast<std::uint64_t>(no->ballot));
    }
    if (!in.asker) return;
    auto const best =
        std::ranges::max_element(numbers, {}, [](auto const& each) { return each.second; });
    auto const votes = best == numbers.end() ? 0 : best->second;
    if (votes >= rounds_.majority()) return on_majority(entry, of, best->first, in, now);
    if (votes + in.pending() >= rounds_.majority()) return;
    // Busy is what a majority has said; of fewer it is not known yet whether a majority can be asked.
    bool const known =
        in.answered() >= rounds_.majority() || in.answered() + in.pending() < rounds_.majority();
    if (known) on_no_majority(of, in, now);
}

// Members that refused the claim, or were not asked, lack it from now on, so that the first renewal may repair them. One
// that did not answer may have it.
void claim_votes::note_missing(claim_entry& entry, round const& in, base::instant now) {
    for (std::size_t i = 0; i < in.votes.size(); ++i) {
        auto const& each = in.votes[i];
        auto& copy = entry.copies[i];
        bool const refused =
            each.is == vote::state::answered && std::holds_alternative<seam::refused>(each.answer);
        if ((refused || copy.is == copy_state::not_sent) && copy.heard_in == 0)
            copy.missing_since = std::min(copy.missing_since, now);
    }
}

void claim_votes::on_majority(claim_entry& entry, seam::claim_id of, seam::sequence number,
                              round& in, base::instant now) {
    std::vector<told_hold> granted;
    for (auto const& each : in.votes)
        if (auto const* const yes = std::get_if<seam::granted>(&each.answer);
            each.is == vote::state::answered && yes != nullptr && yes->held.number == number)
            granted.push_back({yes->held, each.now});
    entry.began = judge_.began(in.sent, now) - used_up_of(granted, entry.lease, rounds_.majority());
    if (now >= entry.began + entry.lease - nanoseconds{entry.lease} / drift - margin) {
        auto const late = std::move(entry);
        claims_.erase(of);
        rounds_.answer(in, seam::refused{.why = seam::refusal::too_late}, now);
        return endings_.give_back(late, now);
    }
    entry.at = claim_entry::phase::held;
    entry.number = number;
    keep(entry, now);
    by_attempt_[entry.subject.id] = of;
    watches_.on_granted(entry.subject.name());
    rounds_.answer(in, seam::granted{{number, store_time_of(entry.began)}}, now);
}

void claim_votes::on_no_majority(seam::claim_id of, round& in, base::instant now) {
    if (vote_again(of, in, now)) return;
    auto const lost = std::move(claims_.at(of));
    claims_.erase(of);
    auto reason = reason_without_majority(in, rounds_);
    auto* const busy = std::get_if<seam::refused>(&reason);
    bool const split = in.count_of<seam::granted>() > 0 && busy != nullptr;
    if (busy != nullptr && busy->blocked_for > milliseconds::zero())
        busy->blocked_for += std::chrono::ceil<milliseconds>(watches_.random_wait());
    auto const later =
        split ? watches_.time_after_split(lost.subject.name(), now - in.sent) : nanoseconds::zero();
    if (later == nanoseconds::zero())
        rounds_.answer(in, std::move(reason), now);
    else  // whoever waits asks again at once; those who split the vote would do so together
        rounds_.answer_at(std::min(now + later, lost.until), in, std::move(reason));
    endings_.give_back(lost, now);
}

// With a higher ballot it may have a majority: members that are free have said what to exceed. Members get requests in
// their order, so that what is given back is free before it is asked for.
bool claim_votes::vote_again(seam::claim_id of, round& in, base::instant now) {
    auto& entry = claims_.at(of);
    auto const outvoted = in.count_of<seam::refused>(
        [](auto const& no) { return no.why == seam::refusal::outvoted; });
    if (outvoted == 0 || outvoted + in.count_of<seam::granted>() < rounds_.majority() ||
        ++entry.outvoted >= most_votes || entry.until <= now)
        return false;
    endings_.give_back(entry, now);
    begin_vote(*std::exchange(in.asker, std::nullopt), of, entry, now);
    return true;
}

// Nobody waits for its result any more.
void claim_votes::stop_vote(claim_entry const& entry, base::instant now) {
    auto* const in = rounds_.find(entry.round);
    if (in == nullptr) return;
    rounds_.answer(*in, seam::refused{.why = seam::refusal::too_late}, now);
    in->judge = nullptr;
}

}  // namespace holdfast::stores::quorum
