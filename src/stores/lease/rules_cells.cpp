// The part of the rules that is about cells, listings and eviction.
#include <algorithm>
#include <vector>

#include "stores/lease/rules.hpp"

namespace holdfast::stores::lease {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t names_per_page = 200;

claim_info describe(entry const& each, seam::store_time now) {
    claim_info out;
    if (each.held) out.token = static_cast<std::uint64_t>(each.number) << 8;
    out.mode = each.mode;
    out.owner = each.subject.spec->owner.empty()
                    ? base::hex(static_cast<std::uint64_t>(each.who->id)) + "/" +
                          std::to_string(static_cast<std::uint64_t>(each.subject.actor))
                    : each.subject.spec->owner.get();
    out.label = each.subject.spec->label.empty() ? each.who->label : each.subject.spec->label.get();
    out.host = each.who->host;
    out.pid = each.who->pid;
    out.age = std::chrono::duration_cast<milliseconds>(now - each.since);
    out.lease_left =
        std::max(milliseconds{0}, std::chrono::duration_cast<milliseconds>(each.expires - now));
    out.id = seam::to_string(each.subject.id);
    out.permits = each.permits;
    out.value = each.subject.spec->value;
    out.arrival = static_cast<std::uint64_t>(each.since.time_since_epoch().count());
    out.kept = each.kept;
    return out;
}

seam::claim_spec bare_spec(seam::cell_key const& key) {
    seam::claim_spec spec{.name = key.name, .kind = key.kind};
    return spec;
}

}  // namespace

seam::reply_body rules::apply(seam::read const& what) {
    auto const* const found = ledger_.find_cell(what.key);
    if (found == nullptr || found->expires <= now_) return seam::cell{};
    return seam::cell{found->version, found->value};
}

seam::reply_body rules::apply(seam::swap const& what) {
    auto const spec = bare_spec(what.key);
    auto* record = live(spec);
    if (record != nullptr)
        if (auto no = disagreement(*record, spec)) return std::move(*no);
    auto* found = ledger_.find_cell(what.key);
    bool const exists = found != nullptr && found->expires > now_;
    if (exists && found->operation == what.operation) return seam::swapped{found->version};
    auto const as_it_is = exists ? seam::cell{found->version, found->value} : seam::cell{};
    if (what.guard) {
        auto* const guard = record == nullptr ? nullptr : ledger_.find(*record, what.guard->id);
        if (guard == nullptr || !guard->held || guard->kept) return seam::conflict{as_it_is, true};
    }
    if (as_it_is.version != what.expected) return seam::conflict{as_it_is};
    // A version is never used again, so that a late swap of a cell's former life cannot match.
    auto const version = what.remove ? 0 : static_cast<std::uint64_t>(ledger_.next_sequence());
    if (what.remove) {
        if (found != nullptr) ledger_.erase_cell(what.key);
    } else {
        if (record == nullptr) ledger_.make(spec);
        ledger_.put_cell(what.key, {version, what.value, what.operation, now_ + what.ttl});
    }
    if (!what.quiet) tell_watchers(what.key);
    return seam::swapped{version};
}

seam::reply_body rules::apply(seam::watch const& what) {
    ledger_.watch(self_->id, what.key, true);
    return seam::done{};
}

seam::reply_body rules::apply(seam::unwatch const& what) {
    ledger_.watch(self_->id, what.key, false);
    return seam::done{};
}

seam::reply_body rules::apply(seam::inspect const& what) {
    seam::page out;
    auto const names = what.exact        ? std::vector<std::string>{what.prefix}
                       : what.waited_for ? ledger_.waited_names(what.after, names_per_page)
                                         : ledger_.names(what.prefix, what.after, names_per_page);
    for (auto const& name : names) {
        for (bool const condition : {false, true}) {
            auto* const record = ledger_.find(name, std::hash<std::string>{}(name), condition);
            if (record == nullptr) continue;
            settle_time(*record);
            if (record->empty(now_)) {
                ledger_.erase(*record);
                continue;
            }
            seam::listed info;
            info.name = name;
            info.kind = record->kind;
            if (auto const* const cell = ledger_.find_cell({record->kind, name, {}});
                cell != nullptr && cell->expires > now_)
                info.cell = cell->value;
            if (record->kind == lock_kind::semaphore) info.limit = record->current;
            ledger_.each_holder(
                *record, [&](entry const& each) { info.holders.push_back(describe(each, now_)); });
            ledger_.each_waiter(
                *record, [&](entry const& each) { info.waiters.push_back(describe(each, now_)); });
            out.names.push_back(std::move(info));
        }
    }
    if (names.size() == names_per_page) out.next = names.back();
    return out;
}

seam::reply_body rules::apply(seam::evict const& what) {
    seam::evicted out;
    for (bool const condition : {false, true})
        if (auto* const record =
                ledger_.find(what.name, std::hash<std::string>{}(what.name), condition))
            out.count += evict_from(*record, what);
    return out;
}

std::size_t rules::evict_from(name_record& record, seam::evict const& what) {
    settle_time(record);
    std::vector<seam::claim_id> ids;
    auto const pick = [&](entry const& each) {
        if (what.only ? each.subject.id == *what.only : each.held) ids.push_back(each.subject.id);
    };
    ledger_.each_holder(record, pick);
    if (what.only && ids.empty()) ledger_.each_waiter(record, pick);
    for (auto const& id : ids)
        end(record, *ledger_.find(record, id), "it was evicted");
    move_line(record);
    tidy(record);
    return ids.size();
}

void rules::reap(name_record& record, seam::client_id client) {
    settle_time(record);
    std::vector<seam::claim_id> ids;
    auto const pick = [&](entry const& each) {
        if (each.who->id == client && !each.kept) ids.push_back(each.subject.id);
    };
    ledger_.each_holder(record, pick);
    ledger_.each_waiter(record, pick);
    for (auto const& id : ids)
        end(record, *ledger_.find(record, id), nullptr);
    move_line(record);
    tidy(record);
}

}  // namespace holdfast::stores::lease
