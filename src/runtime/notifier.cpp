#include "runtime/notifier.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/quiet_thread.hpp"

namespace holdfast::runtime {

notifier::~notifier() { stop(); }

void notifier::post(std::vector<task>& what) {
    std::vector<task> refused;  // ends last, without a lock: what it holds may take one
    std::lock_guard const starting{thread_mutex_};
    {
        std::lock_guard const guard{state_->mutex};
        if (state_->stopping) return refused.swap(what);
        std::ranges::move(what, std::back_inserter(state_->tasks));
        what.clear();
    }
    if (!thread_.joinable()) thread_ = start_quietly([with = state_] { run(*with); });
    state_->changed.notify_one();
}

void notifier::run(state& with) {
    std::vector<task> mine;
    for (;;) {
        {
            std::unique_lock guard{with.mutex};
            with.changed.wait(guard, [&] { return with.stopping || !with.tasks.empty(); });
            if (with.tasks.empty()) return;
            mine.swap(with.tasks);
        }
        for (auto& next : mine) {
            if (with.dropped) break;
            try {
                next();
            } catch (...) {  // user code: what it throws has nobody else to go to
            }
            next = nullptr;
        }
        mine.clear();
    }
}

void notifier::stop() noexcept {
    {
        std::lock_guard const guard{state_->mutex};
        state_->stopping = true;
    }
    state_->changed.notify_one();
    std::thread mine;  // joined without the lock: a task may post
    {
        std::lock_guard const starting{thread_mutex_};
        mine = std::move(thread_);
    }
    if (!mine.joinable()) return;
    if (mine.get_id() == std::this_thread::get_id()) {
        // A task ends its own client. What is behind it in the queue may need that client.
        state_->dropped = true;
        std::vector<task> dropped;
        std::lock_guard const guard{state_->mutex};
        dropped.swap(state_->tasks);
        mine.detach();
    } else {
        mine.join();
    }
}

}  // namespace holdfast::runtime
