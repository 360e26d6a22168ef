// The part of the rules that is about cells, listings and eviction.
#include <algorithm>
#include <vector>

#include "stores/lease/rules.hpp"

namespace holdfast::stores::lease {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t names_per_page = 200;

claim_info describe(entry const& it, seam::store_time now) {
    claim_info out;
    if (it.held) out.token = static_cast<std::uint64_t>(it.number) << 8;
    out.mode = it.mode;
    out.owner = it.subject.spec->owner.empty()
                    ? base::hex(static_cast<std::uint64_t>(it.who->id)) + "/" +
                          std::to_string(static_cast<std::uint64_t>(it.subject.actor))
                    : it.subject.spec->owner.get();
    out.label = it.subject.spec->label.empty() ? it.who->label : it.subject.spec->label.get();
    out.host = it.who->host;
    out.pid = it.who->pid;
    out.age = std::chrono::duration_cast<milliseconds>(now - it.since);
    out.lease_left =
        std::max(milliseconds{0}, std::chrono::duration_cast<milliseconds>(it.expires - now));
    out.id = seam::to_string(it.subject.id);
    out.permits = it.permits;
    out.value = it.subject.spec->value;
    out.arrival = static_cast<std::uint64_t>(it.since.time_since_epoch().count());
    return out;
}

seam::claim_spec bare_spec(seam::cell_key const& key) {
    seam::claim_spec spec{.name = key.name, .kind = key.kind};
    return spec;
}

}  // namespace

seam::reply_body rules::apply(seam::read const& what) {
    auto const* const found = books_.find_cell(what.key);
    if (found == nullptr || found->expires <= now_) return seam::cell{};
    return seam::cell{found->version, found->value};
}

seam::reply_body rules::apply(seam::swap const& what) {
    auto const spec = bare_spec(what.key);
    auto* record = live(spec);
    if (record != nullptr)
        if (auto no = disagreement(*record, spec)) return std::move(*no);
    auto* found = books_.find_cell(what.key);
    bool const exists = found != nullptr && found->expires > now_;
    if (exists && found->operation == what.operation) return seam::swapped{found->version};
    auto const as_it_is = exists ? seam::cell{found->version, found->value} : seam::cell{};
    if (what.guard) {
        auto* const guarded = live(*what.guard->spec);
        auto* const guard = guarded == nullptr ? nullptr : books_.find(*guarded, what.guard->id);
        if (guard == nullptr || !guard->held || guard->kept) return seam::conflict{as_it_is, true};
        record = live(spec);  // time may have ended the record that was found before
    }
    if (as_it_is.version != what.expected) return seam::conflict{as_it_is};
    // A version is never used again, so that a late swap of a cell's former life cannot match.
    auto const version = static_cast<std::uint64_t>(books_.next_sequence());
    if (what.remove) {
        if (found != nullptr) books_.erase_cell(what.key);
    } else {
        if (record == nullptr) books_.make(spec);
        books_.put_cell(what.key, {version, what.value, what.operation, now_ + what.ttl});
    }
    if (!what.quiet) tell_watchers(what.key);
    return seam::swapped{version};
}

seam::reply_body rules::apply(seam::watch const& what) {
    books_.watch(self_->id, what.key, true);
    return seam::done{};
}

seam::reply_body rules::apply(seam::unwatch const& what) {
    books_.watch(self_->id, what.key, false);
    return seam::done{};
}

seam::reply_body rules::apply(seam::inspect const& what) {
    seam::page out;
    auto const names = what.exact        ? std::vector<std::string>{what.prefix}
                       : what.waited_for ? books_.waited_names(what.after, names_per_page)
                                         : books_.names(what.prefix, what.after, names_per_page);
    for (auto const& name : names) {
        for (bool const condition : {false, true}) {
            auto* const record = books_.find(name, std::hash<std::string>{}(name), condition);
            if (record == nullptr) continue;
            settle_time(*record);
            if (record->empty(now_)) {
                books_.erase(*record);
                continue;
            }
            seam::listed info;
            info.name = name;
            info.kind = record->kind;
            if (auto const* const cell = books_.find_cell({record->kind, name, {}});
                cell != nullptr && cell->expires > now_)
                info.cell = cell->value;
            if (record->kind == lock_kind::semaphore) info.limit = record->current;
            books_.each_holder(
                *record, [&](entry const& it) { info.holders.push_back(describe(it, now_)); });
            books_.each_waiter(
                *record, [&](entry const& it) { info.waiters.push_back(describe(it, now_)); });
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
                books_.find(what.name, std::hash<std::string>{}(what.name), condition))
            out.count += evict_from(*record, what);
    return out;
}

std::size_t rules::evict_from(name_record& record, seam::evict const& what) {
    settle_time(record);
    std::vector<seam::claim_id> ids;
    auto const pick = [&](entry const& it) {
        if (what.only ? it.subject.id == *what.only : it.held) ids.push_back(it.subject.id);
    };
    books_.each_holder(record, pick);
    if (what.only) books_.each_waiter(record, pick);
    for (auto const& id : ids)
        end(record, *books_.find(record, id), "it was evicted");
    move_line(record);
    tidy(record);
    return ids.size();
}

void rules::bury(name_record& record, seam::client_id client) {
    settle_time(record);
    std::vector<seam::claim_id> ids;
    auto const pick = [&](entry const& it) {
        if (it.who->id == client && !it.kept) ids.push_back(it.subject.id);
    };
    books_.each_holder(record, pick);
    books_.each_waiter(record, pick);
    for (auto const& id : ids)
        end(record, *books_.find(record, id), nullptr);
    move_line(record);
    tidy(record);
}

}  // namespace holdfast::stores::lease
