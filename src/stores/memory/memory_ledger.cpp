#include "stores/memory/memory_ledger.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::memory {

namespace {

constexpr std::size_t idle_records = 256;  // hot names keep their record between two holds
constexpr std::size_t spare_slots = 1024;

}  // namespace

memory_ledger::~memory_ledger() {
    for (auto* const names : {&names_, &conditions_})
        for (auto const& [key, row] : *names)
            row->line.clear();
    for (auto const& [id, claim] : claims_)
        delete claim;
}

lease::name_record* memory_ledger::find(std::string_view name, std::size_t hash, bool condition) {
    auto& names = table(condition);
    auto const found = names.find(name_key{name, hash});
    return found == names.end() || !found->second->used_now ? nullptr : found->second.get();
}

lease::name_record& memory_ledger::make(seam::claim_spec const& spec) {
    auto& names = table(spec.kind == lock_kind::condition);
    name_row* made = nullptr;
    if (auto const found = names.find(name_key{spec.name, spec.hash}); found != names.end()) {
        made = found->second.get();
        --idle_;
    } else {
        auto fresh = std::make_unique<name_row>();
        made = fresh.get();
        made->name = spec.name;
        made->hash = spec.hash;
        ordered_.insert(*made);
        names.emplace(name_key{made->name, made->hash}, std::move(fresh));
    }
    made->used_now = true;
    made->kind = spec.kind;
    made->declared = made->current = spec.limit;
    made->keep_until = {};
    return *made;
}

void memory_ledger::erase(lease::name_record& record) {
    static_cast<name_row&>(record).used_now = false;
    if (++idle_ > idle_records) sweep_idle();
}

// Frees all idle records at once: rare, and what it costs was paid for by as many erasures.
void memory_ledger::sweep_idle() {
    for (auto* const names : {&names_, &conditions_})
        boost::unordered::erase_if(*names, [this](auto const& each) {
            if (each.second->used_now) return false;
            agenda_.remove(*each.second);
            return true;
        });
    idle_ = 0;
}

void memory_ledger::save(lease::name_record& record) {
    if (record.keep_until != seam::store_time{}) expect_end(record, record.keep_until);
}

// --- what ends unseen --------------------------------------------------------------------------

// A name stays on the timer queue with the first end that was expected, while holds come and go and are
// renewed: it is put right when that moment comes, once per lease instead of once per hold.
void memory_ledger::expect_end(lease::name_record& record, seam::store_time when) {
    auto& row = static_cast<name_row&>(record);
    if (row.place.placed() && row.due <= when) return;
    row.due = when;
    agenda_.place(row);
}

seam::store_time memory_ledger::next_end(name_row const& record, seam::store_time now) const {
    // A limit that need not be remembered any more ends with the last who use it.
    bool const bare = record.holders == 0 && record.waiters == 0 && record.cells == 0;
    auto out = bare || record.keep_until > now ? record.keep_until : seam::store_time::max();
    if (auto const* const soonest = record.holding.top()) out = std::min(out, soonest->expires);
    if (!record.line.empty()) out = std::min(out, record.line.front().expires);
    if (record.cells == 0) return out;
    auto key = cells_.lower_bound(seam::cell_key{record.kind, record.name, {}});
    for (; key != cells_.end() && key->first.kind == record.kind && key->first.name == record.name;
         ++key)
        out = std::min(out, key->second.expires);
    return out;
}

lease::name_record* memory_ledger::overdue(seam::store_time now) {
    drop_tombstones(now);
    ballots_.drop(now);
    // A few at a time: who pays for it has asked for something else.
    for (int looks = 0; looks < 4; ++looks) {
        auto* const first = agenda_.top();
        if (first == nullptr || first->due > now) return nullptr;
        agenda_.remove(*first);
        if (!first->used_now) continue;
        auto const end = next_end(*first, now);
        if (end <= now) return first;
        expect_end(*first, end);
    }
    return nullptr;
}

void memory_ledger::look_after(lease::name_record& record, seam::store_time now) {
    expect_end(record, next_end(static_cast<name_row&>(record), now));
}

// --- claims ------------------------------------------------------------------------------------

lease::entry* memory_ledger::find(lease::name_record& record, seam::claim_id id) {
    auto& row = static_cast<name_row&>(record);
    if (row.holding.size() == 1 && row.holding.top()->subject.id == id) return row.holding.top();
    if (record.waiters == 0 && row.holding.size() <= 1) return nullptr;
    auto const found = claims_.find(id);
    return found == claims_.end() ? nullptr : found->second;
}

std::unique_ptr<memory_ledger::slot> memory_ledger::take_slot() {
    if (spare_.empty()) return std::make_unique<slot>();
    auto out = std::move(spare_.back());
    spare_.pop_back();
    return out;
}

lease::entry& memory_ledger::add(lease::name_record& record, lease::entry made) {
    auto& row = static_cast<name_row&>(record);
    auto fresh = take_slot();
    static_cast<lease::entry&>(*fresh) = std::move(made);
    claims_.emplace(fresh->subject.id, fresh.get());
    expect_end(row, fresh->expires);
    if (fresh->held) {
        row.holding.place(*fresh);
    } else {
        if (row.line.empty()) waited_.insert(row);
        row.line.push_back(*fresh);
    }
    return *fresh.release();
}

void memory_ledger::save(lease::name_record& record, lease::entry& changed) {
    if (changed.held) static_cast<name_row&>(record).holding.place(static_cast<slot&>(changed));
    expect_end(record, changed.expires);
}

void memory_ledger::promote(lease::name_record& record, lease::entry& waiter) {
    auto& row = static_cast<name_row&>(record);
    auto& own = static_cast<slot&>(waiter);
    leave_line(row, own);
    row.holding.place(own);
    expect_end(row, own.expires);
}

void memory_ledger::remove(lease::name_record& record, lease::entry& ended) {
    auto& row = static_cast<name_row&>(record);
    auto& own = static_cast<slot&>(ended);
    if (own.is_linked()) leave_line(row, own);
    row.holding.remove(own);
    claims_.erase(own.subject.id);
    static_cast<lease::entry&>(own) = lease::entry{};
    std::unique_ptr<slot> freed{&own};
    if (spare_.size() < spare_slots) spare_.push_back(std::move(freed));
}

void memory_ledger::leave_line(name_row& record, slot& waiter) {
    record.line.erase(record.line.iterator_to(waiter));
    if (record.line.empty()) record.order_hook<waited_tag>::unlink();
}

lease::entry* memory_ledger::soonest_holder(lease::name_record& record) {
    return static_cast<name_row&>(record).holding.top();
}

lease::entry* memory_ledger::first_waiter(lease::name_record& record) {
    auto& line = static_cast<name_row&>(record).line;
    return line.empty() ? nullptr : &line.front();
}

void memory_ledger::each_holder(lease::name_record& record, visitor const& visit) {
    auto holders = static_cast<name_row&>(record).holding.items();
    std::ranges::sort(holders, {}, [](slot const* own) {
        return std::pair{own->since, own->number};
    });
    for (auto const* const each : holders)
        visit(*each);
}

void memory_ledger::each_waiter(lease::name_record& record, visitor const& visit) {
    for (auto const& row : static_cast<name_row&>(record).line)
        visit(row);
}

void memory_ledger::put_tombstone(seam::claim_id id, seam::store_time until) {
    auto& has_tombstone = tombstones_[id];
    if (until <= has_tombstone) return;
    tombstones_by_end_.erase({has_tombstone, id});
    tombstones_by_end_.emplace(until, id);
    has_tombstone = until;
}

bool memory_ledger::has_tombstone(seam::claim_id id, seam::store_time now) {
    auto const found = tombstones_.find(id);
    return found != tombstones_.end() && found->second > now;
}

void memory_ledger::drop_tombstones(seam::store_time now) {
    while (!tombstones_by_end_.empty() && tombstones_by_end_.begin()->first <= now) {
        tombstones_.erase(tombstones_by_end_.begin()->second);
        tombstones_by_end_.erase(tombstones_by_end_.begin());
    }
}

std::size_t memory_ledger::size() const noexcept {
    return names_.size() + conditions_.size() - idle_ + cells_.size() + tombstones_.size() +
           ballots_.size();
}

}  // namespace holdfast::stores::memory
