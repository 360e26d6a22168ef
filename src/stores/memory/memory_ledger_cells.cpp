// The part of the memory store's ledger that is about cells, watchers and listings.
#include <algorithm>
#include <utility>

#include "stores/memory/memory_ledger.hpp"

namespace holdfast::stores::memory {

lease::cell_record* memory_ledger::find_cell(seam::cell_key const& key) {
    auto const found = cells_.find(key);
    return found == cells_.end() ? nullptr : &found->second;
}

void memory_ledger::put_cell(seam::cell_key const& key, lease::cell_record value) {
    auto const expires = value.expires;
    bool const fresh = cells_.insert_or_assign(key, std::move(value)).second;
    auto* const record =
        find(key.name, std::hash<std::string>{}(key.name), key.kind == lock_kind::condition);
    if (fresh) ++record->cells;
    expect_end(*record, expires);
}

void memory_ledger::erase_cell(seam::cell_key const& key) {
    auto* const record =
        find(key.name, std::hash<std::string>{}(key.name), key.kind == lock_kind::condition);
    if (cells_.erase(key) > 0 && record != nullptr) --record->cells;
}

void memory_ledger::purge_cells(lease::name_record& record, seam::store_time now) {
    auto key = cells_.lower_bound(seam::cell_key{record.kind, record.name, {}});
    while (key != cells_.end() && key->first.kind == record.kind &&
           key->first.name == record.name) {
        bool const over = key->second.expires <= now;
        if (over) --record.cells;
        key = over ? cells_.erase(key) : std::next(key);
    }
}

void memory_ledger::watch(seam::client_id client, seam::cell_key const& key, bool on) {
    if (on) {
        watchers_[key].insert(client);
    } else if (auto const found = watchers_.find(key); found != watchers_.end()) {
        found->second.erase(client);
        if (found->second.empty()) watchers_.erase(found);
    }
}

void memory_ledger::each_watcher(seam::cell_key const& key,
                                 std::function<void(seam::client_id)> const& visit) {
    if (auto const found = watchers_.find(key); found != watchers_.end())
        std::ranges::for_each(found->second, visit);
}

void memory_ledger::forget(seam::client_id client) {
    for (auto it = watchers_.begin(); it != watchers_.end();) {
        it->second.erase(client);
        it = it->second.empty() ? watchers_.erase(it) : std::next(it);
    }
}

namespace {

// At most `most` names behind `after` for which `wanted` holds, without doubles, as long as `fits` does.
template <class Order, class Fits, class Wanted>
std::vector<std::string> names_behind(Order const& order, std::string_view from,
                                      std::string_view after, std::size_t most, Fits fits,
                                      Wanted wanted) {
    std::vector<std::string> out;
    for (auto it = order.lower_bound(from); it != order.end() && out.size() < most; ++it) {
        if (!fits(it->name)) break;
        if (it->name == after || !wanted(*it) || (!out.empty() && out.back() == it->name)) continue;
        out.push_back(it->name);
    }
    return out;
}

}  // namespace

std::vector<std::string> memory_ledger::names(std::string_view prefix, std::string_view after,
                                              std::size_t most) {
    return names_behind(
        ordered_, std::max(prefix, after), after, most,
        [&](std::string const& name) { return name.starts_with(prefix); },
        [](name_row const& record) { return record.used_now; });
}

std::vector<std::string> memory_ledger::waited_names(std::string_view after, std::size_t most) {
    return names_behind(
        waited_, after, after, most, [](std::string const&) { return true; },
        [](name_row const&) { return true; });
}

}  // namespace holdfast::stores::memory
