// Requests that found the file locked by another process, and wait for it in order.
#pragma once

#include <atomic>
#include <deque>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "seam/request.hpp"

namespace holdfast::stores::file {

/// Nobody sleeps for them in a call that cannot be ended: the driver tries them again between the other
/// things that it waits for.
///
/// Thread-safety: `add` and `empty` from any thread; the rest by the driver, which alone removes.
class backlog {
public:
    struct item {
        seam::request_id id;
        seam::request what;
        base::instant give_up;  ///< it fails when the file is still locked by then
    };

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    void add(item wanted) {
        base::lock_guard const guard{mutex_};
        items_.push_back(std::move(wanted));
        ++size_;
    }

    /// The one that has waited longest, until it is removed; nothing when there is none.
    [[nodiscard]] item* first() {
        base::lock_guard const guard{mutex_};
        return items_.empty() ? nullptr : &items_.front();
    }

    void remove_first() {
        base::lock_guard const guard{mutex_};
        items_.pop_front();
        --size_;
    }

    void clear() {
        base::lock_guard const guard{mutex_};
        items_.clear();
        size_ = 0;
    }

private:
    base::mutex mutex_;
    std::deque<item> items_ HOLDFAST_GUARDED_BY(mutex_);  ///< additions move no item
    std::atomic<std::size_t> size_{0};
};

}  // namespace holdfast::stores::file
