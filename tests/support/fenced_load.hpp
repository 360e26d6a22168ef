// Many clients that use a few names all the time, while something happens to the servers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/eventually.hpp"

namespace holdfast::support {

/// A number that is guarded by fencing tokens, as the documentation asks of its users. Thread-safe.
class fenced_number {
public:
    /// What it is. From now on nobody with a smaller token can change it.
    [[nodiscard]] std::uint64_t read(std::uint64_t token) {
        std::lock_guard const guard{mutex_};
        highest_ = std::max(highest_, token);
        return value_;
    }
    /// False when a higher token has been seen.
    bool write(std::uint64_t token, std::uint64_t value) {
        std::lock_guard const guard{mutex_};
        if (token < highest_) return false;
        highest_ = token;
        value_ = value;
        ++written_;
        return true;
    }
    /// Right when no two who were let in changed it at once.
    [[nodiscard]] bool is_right() const {
        std::lock_guard const guard{mutex_};
        return value_ == written_;
    }
    [[nodiscard]] std::uint64_t value() const {
        std::lock_guard const guard{mutex_};
        return value_;
    }

private:
    mutable std::mutex mutex_;
    std::uint64_t highest_{0};
    std::uint64_t value_{0};
    std::uint64_t written_{0};
};

/// So many clients from the moment that it is made; `end` ends them and says what is wrong. A release that a failover
/// undoes leaves its name taken for a lease, so that is short.
class fenced_load {
public:
    fenced_load(std::string const& url, std::vector<std::string> names,
                std::chrono::milliseconds lease = std::chrono::seconds{5}, unsigned count = 16)
        : names_{std::move(names)}, numbers_(names_.size()) {
        for (unsigned i = 0; i < count; ++i)
            workers_.push_back(std::async(std::launch::async, [this, url, i, lease] {
                client mine{url, {.patience = std::chrono::seconds{60}}};
                for (auto turn = i; !stop_; ++turn) {
                    visit(mine, turn % names_.size(), lease);
                    (void)throughout(std::chrono::milliseconds{2},
                                     [this] { return !stop_; });  // leaves the servers some time
                }
                mine.close();
                std::lock_guard const guard{mutex_};
                losses_ += mine.metrics()["losses"];
                not_rising_ += mine.metrics()["tokens_not_rising"];
            }));
    }
    ~fenced_load() { stop_ = true; }
    fenced_load(fenced_load const&) = delete;
    fenced_load& operator=(fenced_load const&) = delete;

    /// Whether every name is used again, and how long that took.
    [[nodiscard]] bool goes_on(std::chrono::milliseconds bound) {
        stopwatch const since;
        std::vector<std::uint64_t> before;
        for (auto const& each : numbers_)
            before.push_back(each.value());
        bool const out = eventually(
            [&] {
                for (std::size_t i = 0; i < numbers_.size(); ++i)
                    if (numbers_[i].value() < before[i] + 3) return false;
                return true;
            },
            bound);
        std::cout << "all names are used again after " << since.elapsed().count() << " ms"
                  << std::endl;
        return out;
    }

    void end() {
        stop_ = true;
        for (auto& each : workers_)
            EXPECT_NO_THROW(each.get());
        workers_.clear();
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            EXPECT_TRUE(numbers_[i].is_right()) << "two changed '" << names_[i] << "' at once";
            all += numbers_[i].value();
        }
        std::cout << all << " visits, " << refused_ << " refused, " << losses_ << " losses, "
                  << unavailable_ << " that found no store" << std::endl;
    }

    [[nodiscard]] std::uint64_t losses() const { return losses_; }
    [[nodiscard]] std::uint64_t not_rising() const { return not_rising_; }
    [[nodiscard]] long refused() const { return refused_; }

private:
    void visit(client& mine, std::size_t which, std::chrono::milliseconds lease) {
        try {
            auto const held = mutex{mine,
                                    names_[which],
                                    {.lease = lease,
                                     .order = which % 2 == 0 ? ordering::fair : ordering::barging}}
                                  .try_acquire_for(std::chrono::seconds{30});
            if (!held) return;
            auto const seen = numbers_[which].read(held->token());
            std::this_thread::yield();
            if (!numbers_[which].write(held->token(), seen + 1)) ++refused_;
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
            ++unavailable_;
        }
    }

    std::vector<std::string> names_;
    std::deque<fenced_number> numbers_;
    std::atomic<bool> stop_{false};
    std::atomic<long> refused_{0};
    std::atomic<long> unavailable_{0};
    std::mutex mutex_;
    std::uint64_t losses_{0};
    std::uint64_t not_rising_{0};
    std::vector<std::future<void>> workers_;  ///< end first
};

}  // namespace holdfast::support
