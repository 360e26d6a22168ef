#include "api/name_tables.hpp"

#include <algorithm>
#include <utility>

#include "api/permit_pool.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

name_tables::name_tables() = default;
name_tables::~name_tables() = default;

// Queues that were only looked at (`others`) end after the lock: with the last of them a retry policy of the user's may
// go.

std::shared_ptr<core::wait_queue> name_tables::queue_like(std::shared_ptr<core::wait_queue> fresh) {
    auto const hash = fresh->terms->spec->hash;
    queues others;
    base::lock_guard const guard{mutex_};
    auto const [from, to] = queues_.equal_range(hash);
    for (auto each = from; each != to; ++each) {
        auto known = each->second.lock();
        if (known == nullptr) continue;
        if (known->terms->same_queue(*fresh->terms)) return known;
        others.push_back(std::move(known));
    }
    if (queues_.size() >= queues_swept_at_) {
        std::erase_if(queues_, [](auto const& each) { return each.second.expired(); });
        queues_swept_at_ = std::max<std::size_t>(64, queues_.size() * 2);
    }
    queues_.emplace(hash, fresh);
    return fresh;
}

name_tables::queues name_tables::queues_of(std::string_view name, lock_kind kind) const {
    queues out;
    queues others;
    base::lock_guard const guard{mutex_};
    auto const [from, to] = queues_.equal_range(std::hash<std::string_view>{}(name));
    for (auto each = from; each != to; ++each) {
        auto queue = each->second.lock();
        if (queue == nullptr) continue;
        auto const& spec = *queue->terms->spec;
        bool const wanted = spec.kind == kind && spec.name == name;
        (wanted ? out : others).push_back(std::move(queue));
    }
    return out;
}

namespace {

std::shared_ptr<holder_table> fresh(std::string_view name, std::weak_ptr<holder_table> const&) {
    return std::make_shared<holder_table>(name);
}
std::shared_ptr<permit_table> fresh(std::string_view, std::shared_ptr<permit_table> const&) {
    return std::make_shared<permit_table>();
}

bool is_dead(std::weak_ptr<holder_table> const& holders) { return holders.expired(); }

// With no object that uses it, nothing changes it any more.
bool is_dead(std::shared_ptr<permit_table> const& table) {
    if (table.use_count() > 1) return false;
    base::lock_guard const guard{table->mutex};
    return table->held.empty();
}

std::shared_ptr<holder_table> living(std::weak_ptr<holder_table> const& holders) {
    return holders.lock();
}
std::shared_ptr<permit_table> living(std::shared_ptr<permit_table> const& table) { return table; }

// The living entry of `name`, else a new one. Dead entries are swept when the table has doubled.
template <class Entry>
auto find_or_make(std::map<std::string, Entry, std::less<>>& all, std::string_view name) {
    if (auto const found = all.find(name); found != all.end())
        if (auto known = living(found->second)) return known;
    if (all.size() > 64 && (all.size() & (all.size() - 1)) == 0)
        std::erase_if(all, [](auto const& each) { return is_dead(each.second); });
    auto made = fresh(name, Entry{});
    all.insert_or_assign(std::string{name}, made);
    return made;
}

}  // namespace

std::shared_ptr<holder_table> name_tables::holders_of(std::string_view name) {
    base::lock_guard const guard{mutex_};
    return find_or_make(holders_, name);
}

void name_tables::forget_holders(std::string_view name) noexcept {
    base::lock_guard const guard{mutex_};
    if (auto const found = holders_.find(name); found != holders_.end() && found->second.expired())
        holders_.erase(found);
}

std::shared_ptr<permit_table> name_tables::permits_of(std::string_view name) {
    base::lock_guard const guard{mutex_};
    return find_or_make(permits_, name);
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
