// What the objects of one name share within a client: wait queues, holders, permits.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/holder_table.hpp"
#include "base/mutex.hpp"
#include "core/wait_queue.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

struct permit_table;

/// Thread-safety: all members may be called from any thread at once. While its mutex is held only that of a
/// permit_table is taken, and never the loop's: what the engine keeps in a queue is asked of the loop, with the queues
/// in hand.
///
/// Not to be used in the child of a fork, nor destroyed there: a thread of the parent may have been in the middle of a
/// change.
class name_tables {
public:
    using queues = std::vector<std::shared_ptr<core::wait_queue>>;

    name_tables();
    name_tables(name_tables const&) = delete;
    name_tables& operator=(name_tables const&) = delete;
    ~name_tables();

    /// The one queue of this client for the terms of `fresh`: a known one, or `fresh` from now on.
    [[nodiscard]] std::shared_ptr<core::wait_queue> queue_like(
        std::shared_ptr<core::wait_queue> fresh);
    /// The queues of a name that somebody uses.
    [[nodiscard]] queues queues_of(std::string_view name, lock_kind kind) const;

    [[nodiscard]] std::shared_ptr<holder_table> holders_of(std::string_view name);
    /// Forgets the table when nobody uses it any more.
    void forget_holders(std::string_view name) noexcept;

    /// Stays while permits are out, also when no semaphore object does: another may release them.
    [[nodiscard]] std::shared_ptr<permit_table> permits_of(std::string_view name);

private:
    template <class Entry>
    using by_name = std::map<std::string, Entry, std::less<>>;

    mutable base::mutex mutex_;
    /// By the hash of the name.
    std::unordered_multimap<std::size_t, std::weak_ptr<core::wait_queue>> queues_
        HOLDFAST_GUARDED_BY(mutex_);
    by_name<std::weak_ptr<holder_table>> holders_ HOLDFAST_GUARDED_BY(mutex_);
    by_name<std::shared_ptr<permit_table>> permits_ HOLDFAST_GUARDED_BY(mutex_);
    std::size_t queues_swept_at_ HOLDFAST_GUARDED_BY(mutex_){64};
};

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
