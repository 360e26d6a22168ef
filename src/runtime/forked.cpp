#include "runtime/forked.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include <pthread.h>

#include "base/mutex.hpp"
#include "core/hold_mutexes.hpp"

namespace holdfast::runtime {

namespace {

std::atomic<std::uint64_t> generation{0};

// Never destroyed: a child may be forked while static objects are being destroyed. In the child nothing
// is allocated or freed: not every allocator is whole there, and most children only want to exec.
struct registry {
    base::mutex mutex;
    std::vector<seam::store*> stores HOLDFAST_GUARDED_BY(mutex);
};

registry& all() {
    static auto& instance = *new registry;
    return instance;
}

// The lock is taken in one function and given back in another, which Clang cannot follow.

void before_fork() HOLDFAST_NO_THREAD_SAFETY_ANALYSIS { all().mutex.lock(); }

void after_in_parent() HOLDFAST_NO_THREAD_SAFETY_ANALYSIS { all().mutex.unlock(); }

void after_in_child() HOLDFAST_NO_THREAD_SAFETY_ANALYSIS {
    generation.fetch_add(1, std::memory_order_relaxed);
    core::renew_hold_mutexes_in_child();
    for (auto* const store : all().stores)
        store->abandon_in_child();
    all().stores.clear();
    all().mutex.unlock();
}

void install_once() {
    static int const installed = ::pthread_atfork(&before_fork, &after_in_parent, &after_in_child);
    (void)installed;
}

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

fork_watch::fork_watch(seam::store& whose) : store_{whose} {
    install_once();
    base::lock_guard const guard{all().mutex};
    all().stores.push_back(&store_);
}

fork_watch::~fork_watch() {
    base::lock_guard const guard{all().mutex};
    std::erase(all().stores, &store_);
}

}  // namespace holdfast::runtime
