#include "runtime/notifier.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "runtime/quiet_thread.hpp"

namespace holdfast::runtime {

namespace {

void run_one(notifier::job const& what) noexcept {
    try {
        what();
    } catch (...) {  // user code: what it throws has nobody else to go to
    }
}

}  // namespace

notifier::~notifier() { stop(); }

void notifier::post(std::vector<job>& what) {
    base::lock_guard const starting{thread_mutex_};
    {
        base::lock_guard const guard{state_->mutex};
        if (state_->ended || state_->dropped) return;
        std::ranges::move(what, std::back_inserter(state_->jobs));
        what.clear();
    }
    if (!thread_.joinable() && !stopped_) {
        try {
            thread_ = start_quietly([with = state_] { run(*with); });
        } catch (std::system_error const&) {  // the next one tries again
        }
    }
    state_->changed.notify_one();
}

void notifier::run(state& with) {
    std::vector<job> mine;
    for (;;) {
        {
            base::unique_lock guard{with.mutex};
            while (!with.stopping && with.jobs.empty())
                with.changed.wait(guard);
            if (with.jobs.empty()) {
                with.ended = true;
                return;
            }
            mine.swap(with.jobs);
        }
        for (auto& next : mine) {
            if (with.dropped) break;
            run_one(next);
            next = nullptr;
        }
        mine.clear();
    }
}

void notifier::run_here(std::vector<job> what) noexcept {
    for (auto& next : what) {
        run_one(next);
        next = nullptr;
    }
}

void notifier::stop() noexcept {
    std::thread mine;  // joined without the lock: a task may post
    {
        base::lock_guard const starting{thread_mutex_};
        mine = std::move(thread_);
        stopped_ = true;
        base::lock_guard const guard{state_->mutex};
        state_->stopping = true;
        if (!mine.joinable()) state_->ended = true;
    }
    if (!mine.joinable()) return;
    state_->changed.notify_one();
    if (mine.get_id() == std::this_thread::get_id()) {
        // A task ends its own client. What is behind it in the queue may need that client.
        state_->dropped = true;
        std::vector<job> dropped;
        base::lock_guard const guard{state_->mutex};
        dropped.swap(state_->jobs);
        mine.detach();
    } else {
        mine.join();
    }
}

}  // namespace holdfast::runtime
