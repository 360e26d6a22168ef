#include "stores/file/books.hpp"

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

std::int64_t rank_of(lease::entry const& it) noexcept {
    return count(it.held ? it.expires : it.since);
}

}  // namespace

void books::begin(seam::store_time now) {
    now_ = now;
    state_.reset();
    names_.clear();
    entries_.clear();
    cell_.reset();
}

// --- names -------------------------------------------------------------------------------------

std::string books::key_of(std::string_view name, bool condition) {
    std::string out(1, condition ? 'c' : 'n');
    return out += name;
}

lease::name_record* books::find(std::string_view name, std::size_t, bool condition) {
    auto key = key_of(name, condition);
    if (auto const found = names_.find(key); found != names_.end())
        return found->second->erased ? nullptr : found->second.get();
    auto row = file_.query(
        "SELECT kind, declared, current, used, holders, waiters, fair_waiters, cells, shared,"
        " keep_until FROM names WHERE condition = ? AND name = ?");
    if (!row.with(condition, name).next()) return nullptr;
    auto its = std::make_unique<name_row>();
    its->name = std::string{name};
    its->condition = condition;
    its->stored = true;
    its->kind = row.as<lock_kind>(0);
    its->declared = row.as<std::uint32_t>(1);
    its->current = row.as<std::uint32_t>(2);
    its->used = row.as<std::uint32_t>(3);
    its->holders = row.as<std::uint32_t>(4);
    its->waiters = row.as<std::uint32_t>(5);
    its->fair_waiters = row.as<std::uint32_t>(6);
    its->cells = row.as<std::uint32_t>(7);
    its->shared = row.integer(8) != 0;
    its->keep_until = moment(row.integer(9));
    return names_.emplace(std::move(key), std::move(its)).first->second.get();
}

lease::name_record& books::make(seam::claim_spec const& spec) {
    bool const condition = spec.kind == lock_kind::condition;
    auto& its = names_[key_of(spec.name, condition)];
    bool const stored = its != nullptr && its->stored;
    its = std::make_unique<name_row>();
    its->name = spec.name;
    its->condition = condition;
    its->stored = stored;
    its->changed = true;
    its->kind = spec.kind;
    its->declared = its->current = spec.limit;
    return *its;
}

void books::save(lease::name_record& record) { row_of(record).changed = true; }

void books::erase(lease::name_record& record) {
    row_of(record).erased = true;
    row_of(record).changed = true;
}

void books::flush() {
    for (auto const& [key, its] : names_) {
        if (!std::exchange(its->changed, false)) continue;
        if (its->erased) {
            if (std::exchange(its->stored, false))
                file_.query("DELETE FROM names WHERE condition = ? AND name = ?")
                    .with(its->condition, its->name)
                    .run();
            continue;
        }
        file_.query("INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .with(its->condition, its->name, raw(its->kind), its->declared, its->current, its->used,
                  its->holders, its->waiters, its->fair_waiters, its->cells, its->shared,
                  count(its->keep_until))
            .run();
        its->stored = true;
    }
    if (state_ && std::exchange(state_->changed, false))
        file_.query("UPDATE state SET mark = ?, serial = ?, watches = ?, counted = ?, swept = ?")
            .with(state_->mark, state_->serial, state_->watches, state_->counted, state_->swept)
            .run();
}

// --- claims ------------------------------------------------------------------------------------

lease::entry* books::load(name_row& record, cursor const& row) {
    seam::claim_id const id{row.as<seam::client_id>(0), row.as<std::uint64_t>(1)};
    auto& known = entries_[id];
    if (known != nullptr) return known.get();
    known = std::make_unique<lease::entry>();
    auto& it = *known;
    it.subject.id = id;
    it.held = row.integer(2) != 0;
    it.kept = row.integer(3) != 0;
    it.mode = row.as<claim_mode>(4);
    it.permits = row.as<std::uint32_t>(5);
    it.number = row.as<seam::sequence>(6);
    it.since = moment(row.integer(7));
    it.began = moment(row.integer(8));
    it.expires = moment(row.integer(9));
    seam::claim_spec spec{.name = record.name, .kind = row.as<lock_kind>(10)};
    spec.mode = row.as<claim_mode>(11);
    spec.permits = row.as<std::uint32_t>(12);
    spec.limit = row.as<std::uint32_t>(13);
    spec.order = row.integer(14) != 0 ? ordering::fair : ordering::barging;
    spec.lease = std::chrono::milliseconds{row.integer(15)};
    it.subject.actor = row.as<seam::actor_id>(16);
    spec.owner = row.text(17);
    spec.label = row.text(18);
    spec.joins = row.integer(19) != 0;
    spec.value = row.text(20);
    it.subject.spec = std::make_shared<seam::claim_spec const>(std::move(spec));
    it.who = clients_.who(id.client);
    if (!it.kept && clients_.gone(id.client)) it.expires = seam::store_time{};
    return &it;
}

lease::entry* books::find(lease::name_record& record, seam::claim_id id) {
    if (record.holders == 0 && record.waiters == 0) return nullptr;
    if (auto const found = entries_.find(id); found != entries_.end()) return found->second.get();
    auto row = file_.query("SELECT " HOLDFAST_CLAIM_COLUMNS
                           " FROM claims WHERE client = ? AND number = ?");
    return row.with(raw(id.client), id.number).next() ? load(row_of(record), row) : nullptr;
}

lease::entry& books::add(lease::name_record& record, lease::entry made) {
    auto& its = row_of(record);
    auto& known = entries_[made.subject.id];
    known = std::make_unique<lease::entry>(std::move(made));
    auto const& it = *known;
    auto const& spec = *it.subject.spec;
    file_
        .query(
            "INSERT INTO claims VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(raw(it.subject.id.client), it.subject.id.number, its.condition, its.name, it.held,
              rank_of(it), it.kept, raw(it.mode), it.permits, raw(it.number), count(it.since),
              count(it.began), count(it.expires), raw(spec.kind), raw(spec.mode), spec.permits,
              spec.limit, spec.order == ordering::fair, spec.joins, spec.lease.count(),
              raw(it.subject.actor), spec.owner, spec.label, spec.value)
        .run();
    if (it.held) {
        its.soonest.reset();
    } else if (its.first && *its.first == nullptr) {
        its.first.reset();
    }
    return *known;
}

void books::update(name_row&, lease::entry const& it) {
    file_
        .query(
            "UPDATE claims SET held = ?, rank = ?, kept = ?, mode = ?, permits = ?,"
            " sequence = ?, since = ?, began = ?, expires = ? WHERE client = ? AND number = ?")
        .with(it.held, rank_of(it), it.kept, raw(it.mode), it.permits, raw(it.number),
              count(it.since), count(it.began), count(it.expires), raw(it.subject.id.client),
              it.subject.id.number)
        .run();
}

void books::save(lease::name_record& record, lease::entry& changed) {
    update(row_of(record), changed);
    if (record.holders > 1) row_of(record).soonest.reset();
}

void books::promote(lease::name_record& record, lease::entry& waiter) {
    update(row_of(record), waiter);
    row_of(record).first.reset();
    row_of(record).soonest.reset();
}

void books::remove(lease::name_record& record, lease::entry& ended) {
    auto const id = ended.subject.id;
    row_of(record).first.reset();
    row_of(record).soonest.reset();
    file_.query("DELETE FROM claims WHERE client = ? AND number = ?")
        .with(raw(id.client), id.number)
        .run();
    entries_.erase(id);
}

lease::entry* books::top(name_row& record, bool held) {
    auto row = file_.query("SELECT " HOLDFAST_CLAIM_COLUMNS
                           " FROM claims WHERE condition = ? AND name = ? AND held = ?"
                           " ORDER BY rank LIMIT 1");
    // The name counts holders and waiters: when there is none after all, the rows contradict.
    if (!row.with(record.condition, record.name, held).next()) file_.fail(SQLITE_CORRUPT);
    return load(record, row);
}

lease::entry* books::soonest_holder(lease::name_record& record) {
    if (record.holders == 0) return nullptr;
    auto& its = row_of(record);
    if (!its.soonest) its.soonest = top(its, true);
    return *its.soonest;
}

lease::entry* books::first_waiter(lease::name_record& record) {
    if (record.waiters == 0) return nullptr;
    auto& its = row_of(record);
    if (!its.first) its.first = top(its, false);
    return *its.first;
}

void books::visit_all(name_row& record, char const* sql, visitor const& visit) {
    std::vector<lease::entry const*> found;
    {
        auto row = file_.query(sql);
        row.with(record.condition, record.name);
        while (row.next())
            found.push_back(load(record, row));
    }
    for (auto const* const it : found)
        visit(*it);
}

void books::each_holder(lease::name_record& record, visitor const& visit) {
    visit_all(row_of(record),
              "SELECT " HOLDFAST_CLAIM_COLUMNS
              " FROM claims WHERE condition = ? AND name = ? AND held = 1"
              " ORDER BY since, sequence",
              visit);
}

void books::each_waiter(lease::name_record& record, visitor const& visit) {
    visit_all(row_of(record),
              "SELECT " HOLDFAST_CLAIM_COLUMNS
              " FROM claims WHERE condition = ? AND name = ? AND held = 0 ORDER BY rank",
              visit);
}

}  // namespace holdfast::stores::file
