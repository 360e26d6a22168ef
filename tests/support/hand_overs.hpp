// A lock that goes from client to client in fair order, and how often.
#pragma once

#include <atomic>
#include <deque>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/contention.hpp"

namespace holdfast::support {

/// Clients that all want one name all the time. Not thread-safe.
class ring_of_clients {
public:
    ring_of_clients(std::string const& url, unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            auto& lock = locks_.emplace_back(
                clients_.emplace_back(url), "q",
                lock_options{.lease = std::chrono::seconds{120}, .order = ordering::fair});
            (void)lock.acquire();  // connects, and opens the session
        }
    }

    /// Each takes so many turns. How often the lock went from one client to another.
    [[nodiscard]] int pass_around(int turns) {
        std::atomic<unsigned> last{0};
        std::atomic<int> changes{0};
        all_at_once(static_cast<unsigned>(locks_.size()), [&](unsigned who) {
            for (int turn = 0; turn < turns; ++turn) {
                auto held = locks_[who].acquire();
                if (last.exchange(who) != who) ++changes;
                EXPECT_EQ(held.release(), release_outcome::released);
            }
        });
        return changes;
    }

private:
    std::deque<client> clients_;
    std::deque<mutex> locks_;
};

}  // namespace holdfast::support
