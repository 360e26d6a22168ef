// The part of the ledger that is about the state of the file, cells, watches and listings.
#include <algorithm>
#include <set>

#include "base/clock.hpp"
#include "stores/file/file_ledger.hpp"
#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

file_ledger::state_row& file_ledger::state() {
    if (!state_) {
        auto row = file_.query("SELECT mark, serial, watches, counted, swept FROM state");
        if (!row.next()) file_.fail(SQLITE_CORRUPT);
        state_ = state_row{row.integer(0), row.integer(1), row.integer(2), row.integer(3),
                           row.integer(4)};
    }
    return *state_;
}

seam::sequence file_ledger::next_sequence() {
    auto& row = state();
    row.mark = std::max(row.mark + 1, base::wall_microseconds());
    row.changed = true;
    return static_cast<seam::sequence>(row.mark);
}

std::int64_t file_ledger::next_serial() {
    auto& row = state();
    row.changed = true;
    return ++row.serial;
}

bool file_ledger::due(chore which, std::chrono::microseconds span) {
    auto& row = state();
    auto& last = which == chore::sweep ? row.swept : row.counted;
    if (count(now_) - last < span.count()) return false;
    last = count(now_);
    row.changed = true;
    return true;
}

void file_ledger::put_tombstone(seam::claim_id id, seam::store_time until) {
    file_
        .query(
            "INSERT INTO bars VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET until = max(until, excluded.until)")
        .with(raw(id.client), id.number, count(until))
        .run();
}

bool file_ledger::has_tombstone(seam::claim_id id, seam::store_time now) {
    auto row = file_.query("SELECT 1 FROM bars WHERE client = ? AND number = ? AND until > ?");
    return row.with(raw(id.client), id.number, count(now)).next();
}

lease::cell_record* file_ledger::find_cell(seam::cell_key const& key) {
    auto row = file_.query(
        "SELECT version, value, operation_client, operation_number, expires FROM cells"
        " WHERE kind = ? AND name = ? AND part = ?");
    if (!row.with(raw(key.kind), key.name, key.part).next()) return nullptr;
    cell_ = lease::cell_record{row.as<std::uint64_t>(0), row.text(1),
                               seam::claim_id{row.as<seam::client_id>(2), row.as<std::uint64_t>(3)},
                               moment(row.integer(4))};
    return &*cell_;
}

void file_ledger::put_cell(seam::cell_key const& key, lease::cell_record value) {
    bool const fresh = find_cell(key) == nullptr;
    file_.query("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .with(raw(key.kind), key.name, key.part, value.version, value.value,
              raw(value.operation.client), value.operation.number, count(value.expires),
              count(value.expires) - count(now_))
        .run();
    auto* const record = find(key.name, 0, key.kind == lock_kind::condition);
    if (!fresh || record == nullptr) return;
    ++record->cells;
    save(*record);
}

void file_ledger::erase_cell(seam::cell_key const& key) {
    if (find_cell(key) == nullptr) return;
    file_.query("DELETE FROM cells WHERE kind = ? AND name = ? AND part = ?")
        .with(raw(key.kind), key.name, key.part)
        .run();
    if (auto* const record = find(key.name, 0, key.kind == lock_kind::condition)) {
        --record->cells;
        save(*record);
    }
}

void file_ledger::purge_cells(lease::name_record& record, seam::store_time now) {
    std::vector<std::string> over;
    {
        auto row =
            file_.query("SELECT part FROM cells WHERE kind = ? AND name = ? AND expires <= ?");
        row.with(raw(record.kind), record.name, count(now));
        while (row.next())
            over.push_back(row.text(0));
    }
    for (auto const& part : over)
        erase_cell({record.kind, record.name, part});
}

void file_ledger::watch(seam::client_id client, seam::cell_key const& key, bool on) {
    auto const watching = [&] {
        auto row = file_.query(
            "SELECT 1 FROM watches WHERE kind = ? AND name = ? AND part = ? AND client = ?");
        return row.with(raw(key.kind), key.name, key.part, raw(client)).next();
    }();
    if (watching == on) return;
    auto change = file_.query(on ? "INSERT INTO watches VALUES (?, ?, ?, ?)"
                                 : "DELETE FROM watches WHERE kind = ? AND name = ? AND part = ?"
                                   " AND client = ?");
    change.with(raw(key.kind), key.name, key.part, raw(client)).run();
    state().watches += on ? 1 : -1;
    state().changed = true;
}

bool file_ledger::watched() { return state().watches > 0; }

void file_ledger::each_watcher(seam::cell_key const& key,
                               std::function<void(seam::client_id)> const& visit) {
    if (!watched()) return;
    std::vector<seam::client_id> found;
    {
        auto row =
            file_.query("SELECT client FROM watches WHERE kind = ? AND name = ? AND part = ?");
        row.with(raw(key.kind), key.name, key.part);
        while (row.next())
            found.push_back(row.as<seam::client_id>(0));
    }
    std::ranges::for_each(found, visit);
}

void file_ledger::forget(seam::client_id client) {
    auto const gone = [&] {
        auto row = file_.query("SELECT count(*) FROM watches WHERE client = ?");
        return row.with(raw(client)).next() ? row.integer(0) : 0;
    }();
    if (gone == 0) return;
    file_.query("DELETE FROM watches WHERE client = ?").with(raw(client)).run();
    state().watches -= gone;
    state().changed = true;
}

std::vector<std::string> file_ledger::names(std::string_view prefix, std::string_view after,
                                            std::size_t most) {
    std::set<std::string> found;
    auto const first = std::max(prefix, after);
    for (bool const condition : {false, true}) {
        auto row = file_.query(
            "SELECT name FROM names WHERE condition = ? AND name >= ? ORDER BY name LIMIT ?");
        row.with(condition, first, static_cast<std::uint64_t>(most + 1));
        while (row.next()) {
            auto name = row.text(0);
            if (!name.starts_with(prefix)) break;
            if (name != after) found.insert(std::move(name));
        }
    }
    while (found.size() > most)
        found.erase(std::prev(found.end()));
    return {found.begin(), found.end()};
}

// The condition is the one of the index `waited`, word by word: else SQLite does not use it.
std::vector<std::string> file_ledger::waited_names(std::string_view after, std::size_t most) {
    std::vector<std::string> found;
    auto row = file_.query(
        "SELECT DISTINCT name FROM claims WHERE held = 0 AND (actor <> 0 OR owner <> '') AND "
        "name > ? ORDER BY name LIMIT ?");
    row.with(after, static_cast<std::uint64_t>(most));
    while (row.next())
        found.push_back(row.text(0));
    return found;
}

}  // namespace holdfast::stores::file
