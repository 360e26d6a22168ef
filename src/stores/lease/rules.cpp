#include "stores/lease/rules.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "seam/refusal_text.hpp"

namespace holdfast::stores::lease {

namespace {

using std::chrono::milliseconds;

milliseconds until(seam::store_time end, seam::store_time now) {
    return std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(end - now));
}

// Why a name is not had that would be had without a ballot. Who joins a hold has its number, and no ballot.
std::optional<seam::reply_body> outvoted(ledger& in, name_record const* record,
                                         seam::submit const& how, seam::store_time now) {
    if (how.ballot == seam::sequence{}) return std::nullopt;
    auto* const known = in.ballots();
    if (known == nullptr)
        return seam::failure{{errc::unsupported, "this store cannot be a member of a quorum"}};
    auto const& spec = *how.subject.spec;
    bool const joins =
        record != nullptr && record->holders > 0 && spec.mode == claim_mode::exclusive;
    if (joins || how.repairs) return std::nullopt;
    auto const highest = known->to_exceed(spec, now);
    if (how.ballot > highest) return std::nullopt;
    return seam::refused{.why = seam::refusal::outvoted, .ballot = highest};
}

seam::sequence number_for(ledger& in, seam::submit const& how, seam::store_time now) {
    if (how.ballot == seam::sequence{}) return in.next_sequence();
    in.ballots()->note(*how.subject.spec, how.ballot, now);
    return how.ballot;
}

}  // namespace

seam::reply_body rules::handle(seam::request const& what) {
    return std::visit([this](auto const& verb) { return apply(verb); }, what);
}

// --- submit ------------------------------------------------------------------------------------

seam::reply_body rules::apply(seam::submit const& what) {
    constexpr auto too_late = seam::refusal::too_late;
    auto const& wanted = what.subject;
    if (now_ > what.not_after || ledger_.has_tombstone(wanted.id, now_))
        return seam::refused{.why = too_late};
    auto* record = live(*wanted.spec);
    // A condition admits nobody by itself: also its first waiter waits.
    if (record == nullptr && wanted.spec->kind == lock_kind::condition)
        record = &ledger_.make(*wanted.spec);
    if (record == nullptr) {
        if (auto no = outvoted(ledger_, nullptr, what, now_)) return std::move(*no);
        return seam::granted{hold(ledger_.make(*wanted.spec), wanted, what)};
    }
    if (auto no = disagreement(*record, *wanted.spec)) return std::move(*no);
    if (auto* const before = ledger_.find(*record, wanted.id)) {  // a submit that came twice
        if (!before->held) return seam::queued{.blocked_for = blocked_for(*record)};
        if (before->kept) return seam::refused{.why = too_late};
        return seam::granted{grant_of(*record, *before)};
    }
    if (admits(*record, wanted)) {
        if (auto no = outvoted(ledger_, record, what, now_)) return std::move(*no);
        return seam::granted{hold(*record, wanted, what)};
    }
    if (what.queue && what.ballot == seam::sequence{}) return join_line(*record, wanted, what);
    seam::refused no{.blocked_for = blocked_for(*record)};
    tidy(*record);
    return no;
}

std::optional<seam::refused> rules::disagreement(name_record& record,
                                                 seam::claim_spec const& spec) const {
    if (record.kind != spec.kind)
        return seam::refused{.why = seam::refusal::kind_mismatch,
                             .text = seam::kind_mismatch_text(&spec, record.kind)};
    if (spec.mode == claim_mode::permits && record.declared != spec.limit)
        return seam::refused{.why = seam::refusal::limit_mismatch,
                             .text = seam::limit_mismatch_text(&spec, record.declared)};
    return std::nullopt;
}

// Whether the holders leave room. An exclusive holder is one for all; readers count together.
bool rules::fits(name_record const& record, claim_mode mode, std::uint32_t permits) const {
    if (mode == claim_mode::permits) return std::uint64_t{record.used} + permits <= record.current;
    return record.holders == 0 || (mode == claim_mode::shared && record.shared);
}

bool rules::admits(name_record& record, seam::claim const& wanted) {
    auto const& spec = *wanted.spec;
    if (spec.joins && spec.mode == claim_mode::exclusive && record.holders > 0) {
        bool joined = false;  // what a hold of the same owner has left behind is in nobody's way
        ledger_.each_holder(record, [&](entry const& holder) {
            joined = joined || (!holder.kept && holder.subject.spec->joins &&
                                holder.subject.spec->owner == spec.owner &&
                                holder.mode == claim_mode::exclusive);
        });
        if (joined) return true;
    }
    bool const behind_line = spec.mode == claim_mode::permits && spec.order == ordering::barging
                                 ? record.fair_waiters > 0
                                 : record.waiters > 0;
    return !behind_line && fits(record, spec.mode, spec.permits);
}

entry rules::entry_for(seam::claim const& wanted, seam::submit const& how) const {
    entry made{.subject = wanted,
               .who = self_,
               .mode = wanted.spec->mode,
               .permits = wanted.spec->permits};
    made.since = made.began = now_;
    made.expires = now_ + wanted.spec->lease;
    made.revocation = how.revocation;
    made.generation = how.generation;
    return made;
}

seam::grant rules::hold(name_record& record, seam::claim const& wanted, seam::submit const& how) {
    // A second claim of one explicit owner joins the hold that is there, with its token.
    auto const* const joined =
        wanted.spec->mode == claim_mode::exclusive ? ledger_.soonest_holder(record) : nullptr;
    auto made = entry_for(wanted, how);
    made.held = true;
    made.number = joined != nullptr ? joined->number : number_for(ledger_, how, now_);
    count_held(record, made, +1);
    auto const& kept = ledger_.add(record, std::move(made));
    ledger_.save(record);
    tell_of_holders(record);
    return grant_of(record, kept);
}

seam::reply_body rules::join_line(name_record& record, seam::claim const& wanted,
                                  seam::submit const& how) {
    bool const first = record.waiters == 0;
    ++record.waiters;
    if (wanted.spec->order == ordering::fair) ++record.fair_waiters;
    ledger_.add(record, entry_for(wanted, how));
    ledger_.save(record);
    if (first) {
        if (auto const* const holder = ledger_.soonest_holder(record);
            holder != nullptr && !holder->kept) {
            tell(holder->who->id, seam::name_contended{holder->subject.id});
            // It may have been granted by this very request, after what was put aside was recalled.
            if (holder->revocation != nullptr)
                (void)holder->revocation->reclaim(holder->generation);
        }
    }
    return seam::queued{.blocked_for = blocked_for(record)};
}

seam::grant rules::grant_of(name_record const& record, entry const& held) const {
    return {.number = held.number, .began = held.began, .contended = record.waiters > 0};
}

// How long the soonest-ending holder may last: the earliest moment at which the line can move
// without a release. A condition without holders waits for a notice, not for time.
milliseconds rules::blocked_for(name_record& record) {
    auto const* const holder = ledger_.soonest_holder(record);
    if (holder != nullptr) return until(holder->expires, now_);
    return record.kind == lock_kind::condition ? milliseconds{0} : milliseconds{1};
}

// --- settle, renew, convert --------------------------------------------------------------------

seam::reply_body rules::apply(seam::settle const& what) {
    // A submit may take effect up to and including its last moment.
    constexpr seam::store_clock::duration moment{1};
    auto const last = std::min(what.tombstone_until, seam::store_time::max() - moment);
    if (last >= now_) ledger_.put_tombstone(what.subject.id, last + moment);
    return seam::settled{end_one(what)};
}

seam::ending rules::end_one(seam::settle const& how) {
    auto* const record = live(*how.subject.spec);
    auto* const found = record == nullptr ? nullptr : ledger_.find(*record, how.subject.id);
    if (found == nullptr) return seam::ending::gone;
    if (found->kept) return seam::ending::released;
    if (found->held && how.keep_for > milliseconds::zero()) {
        found->kept = true;
        found->expires = now_ + how.keep_for;
        ledger_.save(*record, *found);
        tell_first_of_kept(*record);
        return seam::ending::released;
    }
    if (found->held && how.consume) record->current -= std::min(record->current, found->permits);
    end(*record, *found, nullptr);
    move_line(*record);
    tidy(*record);
    return seam::ending::released;
}

seam::reply_body rules::apply(seam::renew const& what) {
    seam::renewed out;
    out.items.reserve(what.items.size());
    for (auto const& item : what.items)
        out.items.push_back(renew_one(item));
    return out;
}

seam::renewal rules::renew_one(seam::renew::item const& item) {
    auto* const record = live(*item.subject.spec);
    auto* const found = record == nullptr ? nullptr : ledger_.find(*record, item.subject.id);
    if (found == nullptr || found->kept) return {};
    found->began = now_;
    // Never shorter than it was: a renewal for a shorter lease may come late, after one for a longer
    // lease on which the holder relies.
    found->expires = std::max(found->expires, now_ + item.lease);
    ledger_.save(*record, *found);
    if (found->held)
        return {.found = seam::renewal::status::alive, .held = grant_of(*record, *found)};
    seam::renewal out{.found = seam::renewal::status::waiting};
    if (ledger_.first_waiter(*record) == found) out.blocked_for = blocked_for(*record);
    return out;
}

seam::reply_body rules::apply(seam::convert const& what) {
    auto* const record = live(*what.subject.spec);
    auto* const found = record == nullptr ? nullptr : ledger_.find(*record, what.subject.id);
    if (found == nullptr || !found->held || found->kept)
        return seam::refused{.why = seam::refusal::gone, .text = std::string{seam::not_held_text}};
    if (found->mode == what.mode && found->permits == what.permits)
        return seam::converted{grant_of(*record, *found)};  // came twice
    bool const stronger = what.mode == claim_mode::exclusive ||
                          (what.mode == claim_mode::permits && what.permits > found->permits);
    if (stronger)
        return seam::refused{.why = seam::refusal::would_deadlock,
                             .text = std::string{seam::stronger_text}};
    count_held(*record, *found, -1);
    found->mode = what.mode;
    found->permits = what.permits;
    count_held(*record, *found, +1);
    ledger_.save(*record, *found);
    ledger_.save(*record);
    move_line(*record);
    return seam::converted{grant_of(*record, *found)};
}

seam::reply_body rules::apply(seam::adjust const& what) {
    auto const& spec = *what.subject.spec;
    auto* const found = live(spec);
    if (found != nullptr)
        if (auto no = disagreement(*found, spec)) return std::move(*no);
    if (what.wake > 0 && found != nullptr) wake(*found, what.wake);
    if (found == nullptr && !what.current) return seam::adjusted{spec.limit, spec.limit, 0};
    auto& record = found != nullptr ? *found : ledger_.make(spec);
    if (what.current) {
        constexpr auto remembered = std::chrono::hours{24};
        record.current = *what.current;
        record.keep_until = now_ + remembered;
        ledger_.save(record);
        move_line(record);
    }
    return seam::adjusted{record.declared, record.current, record.used};
}

// Lets in as many as wait, at most `most`: nothing is kept for those who come later.
void rules::wake(name_record& record, std::uint32_t most) {
    auto const takers = std::uint64_t{record.used} + record.waiters;
    record.current =
        static_cast<std::uint32_t>(std::min(takers, std::uint64_t{record.current} + most));
    ledger_.save(record);
    move_line(record);
}

}  // namespace holdfast::stores::lease
