// The part of the rules that is about time and the line: what ends, and who is next.
#include <utility>
#include <vector>

#include "stores/lease/rules.hpp"

namespace holdfast::stores::lease {

name_record* rules::live(seam::claim_spec const& spec) {
    auto* const record = ledger_.find(spec.name, spec.hash, spec.kind == lock_kind::condition);
    if (record == nullptr) return nullptr;
    settle_time(*record);
    if (!record->empty(now_)) return record;
    ledger_.erase(*record);
    return nullptr;
}

void rules::settle_time(name_record& record) {
    if (record.cells > 0) ledger_.purge_cells(record, now_);
    bool freed = record.holders == 1 && recall(record);
    while (record.holders > 0) {
        auto* const soonest = ledger_.soonest_holder(record);
        if (soonest->expires > now_) break;
        end(record, *soonest, "its lease ended without a renewal");
        freed = true;
    }
    // The first waiter may have died: nobody behind it, and no reader, may wait for a corpse.
    if (freed || record.waiters > 0) move_line(record);
}

// A hold that its client has put aside is free for whoever asks. One in use is marked: its client
// must not put it aside any more without asking.
bool rules::recall(name_record& record) {
    auto* const holder = ledger_.soonest_holder(record);
    if (holder->revocation == nullptr || !holder->revocation->reclaim(holder->generation))
        return false;
    end(record, *holder, nullptr);
    return true;
}

void rules::move_line(name_record& record) {
    bool granted_any = false;
    while (record.waiters > 0) {
        auto* const next = ledger_.first_waiter(record);
        if (next == nullptr) break;  // the ledger takes no more changes at once
        if (next->expires <= now_) {
            end(record, *next, "the waiter did not show that it is alive within its lease");
            continue;
        }
        if (!fits(record, next->mode, next->permits)) break;
        let_in(record, *next, ledger_.next_sequence());
        if (next->subject.spec->joins) let_joiners_in(record, *next);
        granted_any = true;
    }
    // A notice whose waiter died has passed on; when nobody is left to hear it, it is forgotten.
    bool const unheard =
        record.kind == lock_kind::condition && record.waiters == 0 && record.current > record.used;
    if (unheard) record.current = record.used;
    if (granted_any || unheard) ledger_.save(record);
    if (!std::exchange(first_left_, false)) return;
    auto const* const holder = ledger_.soonest_holder(record);
    if (holder != nullptr && holder->kept) tell_first_of_kept(record);
}

// Before a waiter leaves, held or ended.
void rules::leaves_line(name_record& record, entry const& waiter) {
    if (ledger_.first_waiter(record) == &waiter) first_left_ = true;
    --record.waiters;
    if (waiter.subject.spec->order == ordering::fair) --record.fair_waiters;
}

// What is kept ends at a time that nobody renews and no release announces. The first in the line is
// told to ask for it: when what stands before it becomes kept, and when it comes to stand there.
void rules::tell_first_of_kept(name_record& record) {
    if (auto const* const first = ledger_.first_waiter(record))
        tell(first->who->id, seam::changed{{record.kind, record.name, seam::holders_part}});
}

void rules::let_in(name_record& record, entry& next, seam::sequence number) {
    leaves_line(record, next);
    next.held = true;
    next.number = number;
    next.since = next.began = now_;
    next.expires = now_ + next.subject.spec->lease;
    count_held(record, next, +1);
    ledger_.promote(record, next);
    tell(next.who->id, seam::claim_granted{next.subject.id, grant_of(record, next)});
    tell_of_holders(record);
}

// The claims of one explicit owner are one hold: those that wait come in with the first of them.
void rules::let_joiners_in(name_record& record, entry const& first) {
    std::vector<seam::claim_id> joiners;
    ledger_.each_waiter(record, [&](entry const& each) {
        auto const& spec = *each.subject.spec;
        if (spec.joins && spec.owner == first.subject.spec->owner && each.expires > now_)
            joiners.push_back(each.subject.id);
    });
    for (auto const& id : joiners) {
        if (ledger_.first_waiter(record) == nullptr) return;  // the ledger takes no more at once
        let_in(record, *ledger_.find(record, id), first.number);
    }
}

void rules::admit_joiners(name_record& record) {
    if (record.waiters == 0) return;
    entry const* owned = nullptr;
    ledger_.each_holder(record, [&](entry const& holder) {
        bool const joinable =
            !holder.kept && holder.subject.spec->joins && holder.mode == claim_mode::exclusive;
        if (joinable && owned == nullptr) owned = &holder;
    });
    if (owned != nullptr) let_joiners_in(record, *owned);
}

// `why` is told to the claim's client; nullptr when the client itself asked for the end.
void rules::end(name_record& record, entry& ended, char const* why) {
    if (ended.revocation != nullptr) ended.revocation->revoke(ended.generation);
    if (ended.held)
        count_held(record, ended, -1);
    else
        leaves_line(record, ended);
    if (why != nullptr && !ended.kept) tell(ended.who->id, seam::claim_gone{ended.subject.id, why});
    bool const held = ended.held;
    ledger_.remove(record, ended);
    ledger_.save(record);
    if (held) tell_of_holders(record);
}

void rules::count_held(name_record& record, entry const& held, int by) {
    auto const step = static_cast<std::uint32_t>(by);
    record.holders += step;
    if (held.mode == claim_mode::permits) record.used += step * held.permits;
    if (by > 0) record.shared = held.mode == claim_mode::shared;
}

void rules::tidy(name_record& record) {
    if (record.empty(now_)) ledger_.erase(record);
}

void rules::tell(seam::client_id to, seam::notice what) {
    notices_.push_back({to, std::move(what)});
}

// Who holds has changed: a leader, those present at a barrier.
void rules::tell_of_holders(name_record const& record) {
    if (ledger_.watched()) tell_watchers({record.kind, record.name, seam::holders_part});
}

void rules::tell_watchers(seam::cell_key const& key) {
    ledger_.each_watcher(key, [&](seam::client_id client) { tell(client, seam::changed{key}); });
}

}  // namespace holdfast::stores::lease
