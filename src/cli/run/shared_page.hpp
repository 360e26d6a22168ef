// Memory that the two processes of `holdfast run`, and the command until its exec, have in common.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

namespace holdfast::cli {

/// Whatever one process knows here the other still knows after its death. Times are nanoseconds of
/// CLOCK_BOOTTIME.
struct shared_page {
    std::atomic<std::int64_t> deadline{0};  ///< when the hold ends unless renewed
    std::atomic<std::int64_t> kill_at{0};   ///< when the group gets KILL; 0 while all is well
    std::atomic<pid_t> group{0};            ///< the command's process group; 0 before its start
    std::atomic<int> exec_error{0};         ///< why the command could not be executed
    std::atomic<bool> abandoned{false};     ///< the supervisor died: nothing may start any more
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free, "shared between processes");

/// Owns the page. It lives on in the children of the process that made it.
class shared_memory {
public:
    shared_memory();
    ~shared_memory();
    shared_memory(shared_memory const&) = delete;
    shared_memory& operator=(shared_memory const&) = delete;

    [[nodiscard]] shared_page& page() const noexcept { return *page_; }

private:
    shared_page* page_;
};

}  // namespace holdfast::cli
