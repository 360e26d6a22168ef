#include "stores/quorum/claim_endings.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using copy_state = claim_entry::copy::state;

// A member that was away for long is owed many: so many are under way at a time, and the answer to each makes room for
// the next.
constexpr std::size_t paid_at_once = 32;

// A submit that may be carried out yet, or once more, must find a tombstone.
bool needs_tombstone(claim_entry::copy const& of) {
    return of.is == copy_state::unanswered || of.is == copy_state::answered;
}

// What was sent to the server before it began anew is not carried out any more, but what it has carried out it may
// still have.
bool began_anew(member const& at, seam::clock_id since) {
    return at.clock && at.clock->clock != since;
}

}  // namespace

base::instant claim_endings::surely_over(milliseconds lease, base::instant now) {
    auto const span = 2 * nanoseconds{lease};
    return now + span + span / drift + std::chrono::seconds{1};
}

void claim_endings::end_at_members(claim_entry const& entry, milliseconds keep_for, round& in,
                                   base::instant now) {
    in.ends.resize(rounds_.size());
    auto const over = surely_over(entry.longest_lease, now) + keep_for;
    auto const number = in.number;
    // A majority answers when it does. A member that is given up too early is owed the end, and asked again: more to do
    // for one that has too much to do.
    auto const patience =
        std::clamp(entry.lease / 4, least_patience, milliseconds{patience_in_background / 2});
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        auto const& copy = entry.copies[i];
        if (copy.is == copy_state::not_sent) {
            in.votes[i] = {.is = vote::state::answered, .answer = seam::settled{}};
            continue;
        }
        if (copy.is == copy_state::unanswered && !judge_.gives_back_unanswered()) continue;
        auto& end = in.ends[i];
        end = {.subject = entry.subject,
               .lease = entry.longest_lease,
               .over = over,
               .ends_by_time = members_[i].per_claim_lease};
        if (needs_tombstone(copy) && !began_anew(members_[i], copy.clock)) {
            end.tombstone_until = copy.not_after;
            end.clock = copy.clock;
        }
        rounds_.ask(in, i,
                    seam::settle{.subject = entry.subject,
                                 .keep_for = keep_for,
                                 .tombstone_until = end.tombstone_until,
                                 .clock = end.clock},
                    in.asker ? patience : patience_in_background, now);
    }
    if (!in.asker) rounds_.close_if_over(number);
}

void claim_endings::give_back(claim_entry const& entry, base::instant now) {
    end_at_members(entry, milliseconds::zero(), rounds_.open(std::nullopt, now, nullptr), now);
}

void claim_endings::pay_owed(std::size_t to, base::instant now) {
    auto& of = members_[to];
    while (of.payments < paid_at_once) {
        auto next = of.owed.take(now);
        if (!next) return;
        auto& end = *next;
        // Whoever answers may renew what it still has with everything else of the client.
        end.over = std::max(end.over, surely_over(end.lease, now));
        if (began_anew(of, end.clock)) {
            end.tombstone_until = {};
            end.clock = {};
        }
        ++of.payments;
        auto& in = rounds_.open(std::nullopt, now, [&of](round&, base::instant) { --of.payments; });
        in.ends.resize(rounds_.size());
        in.ends[to] = end;
        rounds_.ask(
            in, to,
            seam::settle{
                .subject = end.subject, .tombstone_until = end.tombstone_until, .clock = end.clock},
            patience_in_background, now);
    }
}

}  // namespace holdfast::stores::quorum
