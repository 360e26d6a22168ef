// What the tests with real servers and real faults share.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/eventually.hpp"
#include "support/failure.hpp"
#include "support/redis_server.hpp"

namespace holdfast::redis_faults {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_server;
using support::stopwatch;
using support::throughout;

/// Whether nothing is held or waited for, and what is remembered ends by itself, the mark of the
/// tokens excepted. A hold that nobody owns ends only with its lease: let leases be longer than
/// `bound`.
[[nodiscard]] inline bool is_empty(redis_server const& server, std::chrono::milliseconds bound) {
    client reader{server.url()};
    bool const out = eventually([&] { return reader.locks().empty(); }, bound);
    EXPECT_TRUE(out) << "left behind:\n" << server.ask({"KEYS", "*"});
    std::istringstream keys{server.ask({"KEYS", "*"})};
    for (std::string key; std::getline(keys, key);)
        EXPECT_TRUE(key == "holdfast:mark" || server.ask({"PTTL", key}) != "-1") << key;
    return out;
}

/// How often the server ran each command, in small letters, since the last CONFIG RESETSTAT.
[[nodiscard]] inline std::map<std::string, std::uint64_t> commands_of(redis_server const& server) {
    std::map<std::string, std::uint64_t> out;
    std::istringstream lines{server.ask({"INFO", "commandstats"})};
    constexpr std::string_view head = "cmdstat_";
    constexpr std::string_view calls = ":calls=";
    for (std::string line; std::getline(lines, line);) {
        auto const at = line.find(calls);
        if (!line.starts_with(head) || at == std::string::npos) continue;
        out[line.substr(head.size(), at - head.size())] =
            std::stoull(line.substr(at + calls.size()));
    }
    return out;
}

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

}  // namespace holdfast::redis_faults
