#include "stores/memory/books.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::memory {

namespace {

constexpr std::size_t idle_records = 256;  // hot names keep their record between two holds
constexpr std::size_t spare_slots = 1024;

}  // namespace

books::~books() {
    for (auto* const names : {&names_, &conditions_})
        for (auto const& [key, its] : *names)
            its->line.clear();
    for (auto const& [id, it] : claims_)
        delete it;
}

lease::name_record* books::find(std::string_view name, std::size_t hash, bool condition) {
    auto& names = table(condition);
    auto const found = names.find(name_key{name, hash});
    return found == names.end() || !found->second->used_now ? nullptr : found->second.get();
}

lease::name_record& books::make(seam::claim_spec const& spec) {
    auto& names = table(spec.kind == lock_kind::condition);
    name_books* made = nullptr;
    if (auto const found = names.find(name_key{spec.name, spec.hash}); found != names.end()) {
        made = found->second.get();
        --idle_;
    } else {
        auto fresh = std::make_unique<name_books>();
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

void books::erase(lease::name_record& record) {
    static_cast<name_books&>(record).used_now = false;
    if (++idle_ > idle_records) sweep_idle();
}

// Frees all idle records at once: rare, and what it costs was paid for by as many erasures.
void books::sweep_idle() {
    for (auto* const names : {&names_, &conditions_})
        boost::unordered::erase_if(*names, [this](auto const& it) {
            if (it.second->used_now) return false;
            agenda_.remove(*it.second);
            return true;
        });
    idle_ = 0;
}

void books::save(lease::name_record& record) {
    if (record.keep_until != seam::store_time{}) expect_end(record, record.keep_until);
}

// --- what ends unseen --------------------------------------------------------------------------

// A name stays on the agenda with the first end that was expected, while holds come and go and are
// renewed: it is put right when that moment comes, once per lease instead of once per hold.
void books::expect_end(lease::name_record& record, seam::store_time when) {
    auto& its = static_cast<name_books&>(record);
    if (its.place.placed() && its.due <= when) return;
    its.due = when;
    agenda_.place(its);
}

seam::store_time books::next_end(name_books const& record, seam::store_time now) const {
    // A limit that need not be remembered any more ends with the last who use it.
    bool const bare = record.holders == 0 && record.waiters == 0 && record.cells == 0;
    auto out = bare || record.keep_until > now ? record.keep_until : seam::store_time::max();
    if (auto const* const soonest = record.holding.top()) out = std::min(out, soonest->expires);
    if (!record.line.empty()) out = std::min(out, record.line.front().expires);
    if (record.cells == 0) return out;
    auto it = cells_.lower_bound(seam::cell_key{record.kind, record.name, {}});
    for (; it != cells_.end() && it->first.kind == record.kind && it->first.name == record.name;
         ++it)
        out = std::min(out, it->second.expires);
    return out;
}

lease::name_record* books::overdue(seam::store_time now) {
    lift_bars(now);
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

void books::look_after(lease::name_record& record, seam::store_time now) {
    expect_end(record, next_end(static_cast<name_books&>(record), now));
}

// --- claims ------------------------------------------------------------------------------------

lease::entry* books::find(lease::name_record& record, seam::claim_id id) {
    auto& its = static_cast<name_books&>(record);
    if (its.holding.size() == 1 && its.holding.top()->subject.id == id) return its.holding.top();
    if (record.waiters == 0 && its.holding.size() <= 1) return nullptr;
    auto const found = claims_.find(id);
    return found == claims_.end() ? nullptr : found->second;
}

std::unique_ptr<books::slot> books::take_slot() {
    if (spare_.empty()) return std::make_unique<slot>();
    auto out = std::move(spare_.back());
    spare_.pop_back();
    return out;
}

lease::entry& books::add(lease::name_record& record, lease::entry made) {
    auto& its = static_cast<name_books&>(record);
    auto fresh = take_slot();
    static_cast<lease::entry&>(*fresh) = std::move(made);
    claims_.emplace(fresh->subject.id, fresh.get());
    expect_end(its, fresh->expires);
    if (fresh->held) {
        its.holding.place(*fresh);
    } else {
        if (its.line.empty()) waited_.insert(its);
        its.line.push_back(*fresh);
    }
    return *fresh.release();
}

void books::save(lease::name_record& record, lease::entry& changed) {
    if (changed.held) static_cast<name_books&>(record).holding.place(static_cast<slot&>(changed));
    expect_end(record, changed.expires);
}

void books::promote(lease::name_record& record, lease::entry& waiter) {
    auto& its = static_cast<name_books&>(record);
    auto& it = static_cast<slot&>(waiter);
    leave_line(its, it);
    its.holding.place(it);
    expect_end(its, it.expires);
}

void books::remove(lease::name_record& record, lease::entry& ended) {
    auto& its = static_cast<name_books&>(record);
    auto& it = static_cast<slot&>(ended);
    if (it.is_linked()) leave_line(its, it);
    its.holding.remove(it);
    claims_.erase(it.subject.id);
    static_cast<lease::entry&>(it) = lease::entry{};
    std::unique_ptr<slot> freed{&it};
    if (spare_.size() < spare_slots) spare_.push_back(std::move(freed));
}

void books::leave_line(name_books& record, slot& waiter) {
    record.line.erase(record.line.iterator_to(waiter));
    if (record.line.empty()) record.order_hook<waited_tag>::unlink();
}

lease::entry* books::soonest_holder(lease::name_record& record) {
    return static_cast<name_books&>(record).holding.top();
}

lease::entry* books::first_waiter(lease::name_record& record) {
    auto& line = static_cast<name_books&>(record).line;
    return line.empty() ? nullptr : &line.front();
}

void books::each_holder(lease::name_record& record, visitor const& visit) {
    auto holders = static_cast<name_books&>(record).holding.items();
    std::ranges::sort(holders, {}, [](slot const* it) { return std::pair{it->since, it->number}; });
    for (auto const* const it : holders)
        visit(*it);
}

void books::each_waiter(lease::name_record& record, visitor const& visit) {
    for (auto const& it : static_cast<name_books&>(record).line)
        visit(it);
}

void books::bar(seam::claim_id id, seam::store_time until) {
    auto& barred = barred_[id];
    if (until <= barred) return;
    bars_by_end_.erase({barred, id});
    bars_by_end_.emplace(until, id);
    barred = until;
}

bool books::barred(seam::claim_id id, seam::store_time now) {
    auto const found = barred_.find(id);
    return found != barred_.end() && found->second > now;
}

void books::lift_bars(seam::store_time now) {
    while (!bars_by_end_.empty() && bars_by_end_.begin()->first <= now) {
        barred_.erase(bars_by_end_.begin()->second);
        bars_by_end_.erase(bars_by_end_.begin());
    }
}

lease::cell_record* books::find_cell(seam::cell_key const& key) {
    auto const found = cells_.find(key);
    return found == cells_.end() ? nullptr : &found->second;
}

void books::put_cell(seam::cell_key const& key, lease::cell_record value) {
    auto const expires = value.expires;
    bool const fresh = cells_.insert_or_assign(key, std::move(value)).second;
    auto* const its =
        find(key.name, std::hash<std::string>{}(key.name), key.kind == lock_kind::condition);
    if (fresh) ++its->cells;
    expect_end(*its, expires);
}

void books::erase_cell(seam::cell_key const& key) {
    auto* const its =
        find(key.name, std::hash<std::string>{}(key.name), key.kind == lock_kind::condition);
    if (cells_.erase(key) > 0 && its != nullptr) --its->cells;
}

void books::purge_cells(lease::name_record& record, seam::store_time now) {
    auto it = cells_.lower_bound(seam::cell_key{record.kind, record.name, {}});
    while (it != cells_.end() && it->first.kind == record.kind && it->first.name == record.name) {
        bool const over = it->second.expires <= now;
        if (over) --record.cells;
        it = over ? cells_.erase(it) : std::next(it);
    }
}

void books::watch(seam::client_id client, seam::cell_key const& key, bool on) {
    if (on) {
        watchers_[key].insert(client);
    } else if (auto const found = watchers_.find(key); found != watchers_.end()) {
        found->second.erase(client);
        if (found->second.empty()) watchers_.erase(found);
    }
}

void books::each_watcher(seam::cell_key const& key,
                         std::function<void(seam::client_id)> const& visit) {
    if (auto const found = watchers_.find(key); found != watchers_.end())
        std::ranges::for_each(found->second, visit);
}

void books::forget(seam::client_id client) {
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

std::vector<std::string> books::names(std::string_view prefix, std::string_view after,
                                      std::size_t most) {
    return names_behind(
        ordered_, std::max(prefix, after), after, most,
        [&](std::string const& name) { return name.starts_with(prefix); },
        [](name_books const& it) { return it.used_now; });
}

std::vector<std::string> books::waited_names(std::string_view after, std::size_t most) {
    return names_behind(
        waited_, after, after, most, [](std::string const&) { return true; },
        [](name_books const&) { return true; });
}

std::size_t books::size() const noexcept {
    return names_.size() + conditions_.size() - idle_ + cells_.size() + barred_.size();
}

}  // namespace holdfast::stores::memory
