// Processes that want one lock, and what they count together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

/// In memory that all processes share.
struct tally {
    std::atomic<int> ready{0};
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> acquired{0};
    std::atomic<std::uint64_t> changes{0};  ///< acquired by another than the last one
    std::atomic<int> last{-1};
    std::atomic<int> inside{0};

    /// The lock is held by `who`. Throws when somebody else has it too.
    void enter(int who) {
        if (inside.fetch_add(1) != 0) throw std::logic_error{"two hold the lock"};
        acquired.fetch_add(1, std::memory_order_relaxed);
        if (last.exchange(who) != who) changes.fetch_add(1, std::memory_order_relaxed);
    }
    void leave() { inside.fetch_sub(1); }
};

/// Forked when it is made, so before the caller has threads. Each member calls `ready` when it has
/// what it needs, and goes on until `over`.
class crowd {
public:
    using member = std::function<void(tally&, int who)>;

    crowd(int processes, int threads_of_each, member const& life)
        : tally_{new (shared()) tally}, members_{processes * threads_of_each} {
        for (int i = 0; i < processes; ++i)
            children_.push_back(start(i, life));
    }
    ~crowd() {
        tally_->over = true;
        for (auto const child : children_) {
            int status = 0;
            ::waitpid(child, &status, 0);
            if (status != 0) std::abort();
        }
        ::munmap(tally_, sizeof(tally));
    }
    crowd(crowd const&) = delete;
    crowd& operator=(crowd const&) = delete;

    /// Returns when all are ready and have run for a moment.
    void settle_in() const {
        while (tally_->ready < members_)
            pause(std::chrono::milliseconds{5});
        pause(std::chrono::milliseconds{300});
    }

    static void pause(std::chrono::milliseconds span) { std::this_thread::sleep_for(span); }

    [[nodiscard]] std::uint64_t acquired() const { return tally_->acquired; }
    [[nodiscard]] std::uint64_t changes() const { return tally_->changes; }
    [[nodiscard]] tally const& counts() const { return *tally_; }

private:
    static void* shared() {
        void* const at = ::mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc{};
        return at;
    }

    [[nodiscard]] pid_t start(int who, member const& life) const {
        auto const child = ::fork();
        if (child != 0) return child;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        try {
            life(*tally_, who);
        } catch (std::exception const& why) {
            std::fprintf(stderr, "process %d: %s\n", who, why.what());
            std::_Exit(1);
        }
        std::_Exit(0);
    }

    tally* tally_;
    int members_;
    std::vector<pid_t> children_;
};

}  // namespace bench
