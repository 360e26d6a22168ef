// Parties that contend, and what shows that none of them was let in wrongly.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iostream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::support {

/// Tokens of one name, in the order of the grants.
class rising_tokens {
public:
    /// Call it while holding.
    void add(std::uint64_t token) {
        std::lock_guard const guard{mutex_};
        EXPECT_GT(token, last_) << "a token that does not rise";
        last_ = token;
        ++count_;
    }
    [[nodiscard]] int count() const {
        std::lock_guard const guard{mutex_};
        return count_;
    }

private:
    mutable std::mutex mutex_;
    std::uint64_t last_{0};
    int count_{0};
};

/// Somewhere that at most `most` may be at once, and a count that suffers when more are.
class room {
public:
    explicit room(int most = 1) : most_{most} {}

    /// Enters, counts and leaves.
    void visit() {
        EXPECT_LE(inside_.fetch_add(1) + 1, most_) << "too many hold at once";
        auto const before = visits_.load();
        std::this_thread::yield();
        visits_.store(before + 1);
        inside_.fetch_sub(1);
    }
    /// Right when no two were inside at once.
    [[nodiscard]] long visits() const { return visits_.load(); }

private:
    int most_;
    std::atomic<int> inside_{0};
    std::atomic<long> visits_{0};
};

/// The seed of a run: printed, and given again by HOLDFAST_SEED.
[[nodiscard]] inline std::uint64_t seed_of_run() {
    auto const* const given = std::getenv("HOLDFAST_SEED");
    std::uint64_t const out = given != nullptr ? std::stoull(given) : std::random_device{}();
    std::cout << "seed: HOLDFAST_SEED=" << out << std::endl;
    return out;
}

/// Runs `work(i)` for each i below `count` at once, and returns when all have ended. An exception
/// fails the test.
template <class Work>
void all_at_once(unsigned count, Work work) {
    std::vector<std::future<void>> running;
    for (unsigned i = 0; i < count; ++i)
        running.push_back(std::async(std::launch::async, [&work, i] { work(i); }));
    for (auto& one : running)
        EXPECT_NO_THROW(one.get());
}

}  // namespace holdfast::support
