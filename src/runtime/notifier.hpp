// A notifier: a thread of a client on which user code runs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.hpp"

namespace holdfast::runtime {

/// Runs tasks in order, on a thread that is started by the first of them. User code (stop callbacks,
/// observers, log, retry policies) may take as long as it likes: no lease is kept by this thread.
///
/// Thread-safety: all members may be called from any thread at once, also from a task.
class notifier {
public:
    using job = std::function<void()>;

    ~notifier();

    /// Takes all of them at once, so that the thread is woken once. They wait while the system has no thread
    /// to give. After `stop` it takes none: they stay in `what`.
    void post(std::vector<job>& what);

    /// Runs them on the calling thread, which holds no lock of ours: for what was not taken.
    static void run_here(std::vector<job> what) noexcept;

    /// Runs what was posted, and what that posts, then ends the thread. Called from a task it drops
    /// the rest instead.
    void stop() noexcept;

private:
    // Shared with the thread, which may outlive the notifier when a task destroys it.
    struct state {
        base::mutex mutex;
        base::condition_variable changed;
        std::vector<job> jobs HOLDFAST_GUARDED_BY(mutex);
        bool stopping HOLDFAST_GUARDED_BY(mutex){false};
        bool ended HOLDFAST_GUARDED_BY(mutex){false};  ///< nobody runs tasks any more
        std::atomic<bool> dropped{false};  ///< what has not begun is not wanted any more
    };

    static void run(state& with);

    std::shared_ptr<state> state_ = std::make_shared<state>();
    base::mutex thread_mutex_;
    std::thread thread_ HOLDFAST_GUARDED_BY(thread_mutex_);
    bool stopped_ HOLDFAST_GUARDED_BY(thread_mutex_){false};
};

}  // namespace holdfast::runtime
