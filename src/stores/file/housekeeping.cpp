#include "stores/file/housekeeping.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stores/file/numbers.hpp"
#include "stores/file/schema.hpp"

namespace holdfast::stores::file {

bool reap(open_file& file, lease::rules& rules, seam::client_id client) {
    auto const left = file.people.belongings(client);
    std::vector<std::pair<bool, std::string>> names;
    if (left.claims) {
        auto row = file.file.query(
            "SELECT DISTINCT condition, name FROM claims WHERE client = ? AND kept = 0 LIMIT ?");
        row.with(raw(client), chores_at_once);
        while (row.next())
            names.emplace_back(row.integer(0) != 0, row.text(1));
    }
    for (auto const& [condition, name] : names) {
        auto* const record = file.ledger.find(name, std::hash<std::string>{}(name), condition);
        if (record != nullptr) rules.reap(*record, client);
    }
    if (static_cast<std::int64_t>(names.size()) == chores_at_once) return false;
    if (left.watches) file.ledger.forget(client);
    file.people.remove(client, left.notices);
    return true;
}

void reap_dead(open_file& file, lease::rules& rules, std::chrono::microseconds at_most_every) {
    if (!file.ledger.due(file_ledger::chore::count_clients, at_most_every)) return;
    for (auto const client : file.people.count())
        reap(file, rules, client);
}

void sweep(open_file& file, lease::rules& rules, seam::store_time now) {
    file.file.query("DELETE FROM bars WHERE until <= ?").with(count(now)).run();
    sweep_ballots(file.file, now);
    std::set<std::pair<bool, std::string>> names;
    for (auto const* const sql :
         {"SELECT kind = 4, name FROM cells WHERE expires <= ? LIMIT 256",
          "SELECT condition, name FROM claims WHERE expires <= ? LIMIT 256",
          "SELECT condition, name FROM names WHERE holders = 0 AND waiters = 0 AND cells = 0"
          " AND keep_until <= ? LIMIT 256"}) {
        auto row = file.file.query(sql);
        row.with(count(now));
        while (row.next())
            names.emplace(row.integer(0) != 0, row.text(1));
    }
    for (auto const& [condition, name] : names) {
        auto* const record = file.ledger.find(name, std::hash<std::string>{}(name), condition);
        if (record == nullptr) continue;
        rules.settle_time(*record);
        if (record->empty(now)) file.ledger.erase(*record);
    }
}

}  // namespace holdfast::stores::file
