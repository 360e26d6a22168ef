#include "stores/file/file_ledger.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

namespace {

// In the order in which `load` reads them.
#define HOLDFAST_CLAIM_COLUMNS                                                           \
    "client, number, held, kept, mode, permits, sequence, since, began, expires, kind, " \
    "asked_mode, asked_permits, asked_limit, fair, lease, actor, owner, label, joins, value"

std::int64_t rank_of(lease::entry const& entry) noexcept {
    return count(entry.held ? entry.expires : entry.since);
}

}  // namespace

void file_ledger::begin(seam::store_time now) {
    now_ = now;
    state_.reset();
    names_.clear();
    entries_.clear();
    cell_.reset();
}

// --- names -------------------------------------------------------------------------------------

std::string file_ledger::key_of(std::string_view name, bool condition) {
    std::string out(1, condition ? 'c' : 'n');
    return out += name;
}

lease::name_record* file_ledger::find(std::string_view name, std::size_t, bool condition) {
    auto key = key_of(name, condition);
    if (auto const found = names_.find(key); found != names_.end())
        return found->second->erased ? nullptr : found->second.get();
    auto row = file_.query(
        "SELECT kind, declared, current, used, holders, waiters, fair_waiters, cells, shared,"
        " keep_until FROM names WHERE condition = ? AND name = ?");
    if (!row.with(condition, name).next()) return nullptr;
    auto record = std::make_unique<name_row>();
    record->name = std::string{name};
    record->condition = condition;
    record->stored = true;
    record->kind = row.as<lock_kind>(0);
    record->declared = row.as<std::uint32_t>(1);
    record->current = row.as<std::uint32_t>(2);
    record->used = row.as<std::uint32_t>(3);
    record->holders = row.as<std::uint32_t>(4);
    record->waiters = row.as<std::uint32_t>(5);
    record->fair_waiters = row.as<std::uint32_t>(6);
    record->cells = row.as<std::uint32_t>(7);
    record->shared = row.integer(8) != 0;
    record->keep_until = moment(row.integer(9));
    return names_.emplace(std::move(key), std::move(record)).first->second.get();
}

lease::name_record& file_ledger::make(seam::claim_spec const& spec) {
    bool const condition = spec.kind == lock_kind::condition;
    auto& row = names_[key_of(spec.name, condition)];
    bool const stored = row != nullptr && row->stored;
    row = std::make_unique<name_row>();
    row->name = spec.name;
    row->condition = condition;
    row->stored = stored;
    row->changed = true;
    row->kind = spec.kind;
    row->declared = row->current = spec.limit;
    return *row;
}

void file_ledger::save(lease::name_record& record) { row_of(record).changed = true; }

void file_ledger::erase(lease::name_record& record) {
    row_of(record).erased = true;
    row_of(record).changed = true;
}

void file_ledger::flush() {
    for (auto const& [key, row] : names_) {
        if (!std::exchange(row->changed, false)) continue;
        if (row->erased) {
            if (std::exchange(row->stored, false))
                file_.query("DELETE FROM names WHERE condition = ? AND name = ?")
                    .with(row->condition, row->name)
                    .run();
            continue;
        }
        file_.query("INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .with(row->condition, row->name, raw(row->kind), row->declared, row->current, row->used,
                  row->holders, row->waiters, row->fair_waiters, row->cells, row->shared,
                  count(row->keep_until))
            .run();
        row->stored = true;
    }
    if (state_ && std::exchange(state_->changed, false))
        file_.query("UPDATE state SET mark = ?, serial = ?, watches = ?, counted = ?, swept = ?")
            .with(state_->mark, state_->serial, state_->watches, state_->counted, state_->swept)
            .run();
}

// --- claims ------------------------------------------------------------------------------------

lease::entry* file_ledger::load(name_row& record, cursor const& row) {
    seam::claim_id const id{row.as<seam::client_id>(0), row.as<std::uint64_t>(1)};
    auto& known = entries_[id];
    if (known != nullptr) return known.get();
    known = std::make_unique<lease::entry>();
    auto& entry = *known;
    entry.subject.id = id;
    entry.held = row.integer(2) != 0;
    entry.kept = row.integer(3) != 0;
    entry.mode = row.as<claim_mode>(4);
    entry.permits = row.as<std::uint32_t>(5);
    entry.number = row.as<seam::sequence>(6);
    entry.since = moment(row.integer(7));
    entry.began = moment(row.integer(8));
    entry.expires = moment(row.integer(9));
    seam::claim_spec spec{.name = record.name, .kind = row.as<lock_kind>(10)};
    spec.mode = row.as<claim_mode>(11);
    spec.permits = row.as<std::uint32_t>(12);
    spec.limit = row.as<std::uint32_t>(13);
    spec.order = row.integer(14) != 0 ? ordering::fair : ordering::barging;
    spec.lease = std::chrono::milliseconds{row.integer(15)};
    entry.subject.actor = row.as<seam::actor_id>(16);
    spec.owner = row.text(17);
    spec.label = row.text(18);
    spec.joins = row.integer(19) != 0;
    spec.value = row.text(20);
    entry.subject.spec = std::make_shared<seam::claim_spec const>(std::move(spec));
    entry.who = clients_.who(id.client);
    if (!entry.kept && clients_.gone(id.client)) entry.expires = seam::store_time{};
    return &entry;
}

lease::entry* file_ledger::find(lease::name_record& record, seam::claim_id id) {
    if (record.holders == 0 && record.waiters == 0) return nullptr;
    if (auto const found = entries_.find(id); found != entries_.end()) return found->second.get();
    auto row = file_.query("SELECT " HOLDFAST_CLAIM_COLUMNS
                           " FROM claims WHERE client = ? AND number = ?");
    return row.with(raw(id.client), id.number).next() ? load(row_of(record), row) : nullptr;
}

lease::entry& file_ledger::add(lease::name_record& record, lease::entry made) {
    auto& row = row_of(record);
    auto& known = entries_[made.subject.id];
    known = std::make_unique<lease::entry>(std::move(made));
    auto const& entry = *known;
    auto const& spec = *entry.subject.spec;
    file_
        .query(
            "INSERT INTO claims VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(raw(entry.subject.id.client), entry.subject.id.number, row.condition, row.name,
              entry.held, rank_of(entry), entry.kept, raw(entry.mode), entry.permits,
              raw(entry.number), count(entry.since), count(entry.began), count(entry.expires),
              raw(spec.kind), raw(spec.mode), spec.permits, spec.limit,
              spec.order == ordering::fair, spec.joins, spec.lease.count(),
              raw(entry.subject.actor), spec.owner, spec.label, spec.value)
        .run();
    if (entry.held) {
        row.soonest.reset();
    } else if (row.first && *row.first == nullptr) {
        row.first.reset();
    }
    return *known;
}

void file_ledger::update(name_row&, lease::entry const& entry) {
    file_
        .query(
            "UPDATE claims SET held = ?, rank = ?, kept = ?, mode = ?, permits = ?,"
            " sequence = ?, since = ?, began = ?, expires = ? WHERE client = ? AND number = ?")
        .with(entry.held, rank_of(entry), entry.kept, raw(entry.mode), entry.permits,
              raw(entry.number), count(entry.since), count(entry.began), count(entry.expires),
              raw(entry.subject.id.client), entry.subject.id.number)
        .run();
}

void file_ledger::save(lease::name_record& record, lease::entry& changed) {
    update(row_of(record), changed);
    if (record.holders > 1) row_of(record).soonest.reset();
}

void file_ledger::promote(lease::name_record& record, lease::entry& waiter) {
    update(row_of(record), waiter);
    row_of(record).first.reset();
    row_of(record).soonest.reset();
}

void file_ledger::remove(lease::name_record& record, lease::entry& ended) {
    auto const id = ended.subject.id;
    row_of(record).first.reset();
    row_of(record).soonest.reset();
    file_.query("DELETE FROM claims WHERE client = ? AND number = ?")
        .with(raw(id.client), id.number)
        .run();
    entries_.erase(id);
}

lease::entry* file_ledger::top(name_row& record, bool held) {
    auto row = file_.query("SELECT " HOLDFAST_CLAIM_COLUMNS
                           " FROM claims WHERE condition = ? AND name = ? AND held = ?"
                           " ORDER BY rank LIMIT 1");
    // The name counts holders and waiters: when there is none after all, the rows contradict.
    if (!row.with(record.condition, record.name, held).next()) file_.fail(SQLITE_CORRUPT);
    return load(record, row);
}

lease::entry* file_ledger::soonest_holder(lease::name_record& record) {
    if (record.holders == 0) return nullptr;
    auto& row = row_of(record);
    if (!row.soonest) row.soonest = top(row, true);
    return *row.soonest;
}

lease::entry* file_ledger::first_waiter(lease::name_record& record) {
    if (record.waiters == 0) return nullptr;
    auto& row = row_of(record);
    if (!row.first) row.first = top(row, false);
    return *row.first;
}

void file_ledger::visit_all(name_row& record, char const* sql, visitor const& visit) {
    std::vector<lease::entry const*> found;
    {
        auto row = file_.query(sql);
        row.with(record.condition, record.name);
        while (row.next())
            found.push_back(load(record, row));
    }
    for (auto const* const each : found)
        visit(*each);
}

void file_ledger::each_holder(lease::name_record& record, visitor const& visit) {
    visit_all(row_of(record),
              "SELECT " HOLDFAST_CLAIM_COLUMNS
              " FROM claims WHERE condition = ? AND name = ? AND held = 1"
              " ORDER BY since, sequence",
              visit);
}

void file_ledger::each_waiter(lease::name_record& record, visitor const& visit) {
    visit_all(row_of(record),
              "SELECT " HOLDFAST_CLAIM_COLUMNS
              " FROM claims WHERE condition = ? AND name = ? AND held = 0 ORDER BY rank",
              visit);
}

}  // namespace holdfast::stores::file
