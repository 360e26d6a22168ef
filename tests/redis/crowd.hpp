// Many who wait for one name, and how many commands that costs.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <holdfast/asio.hpp>

#include "redis/fixture.hpp"

namespace holdfast::redis_faults {

/// What scripts of ours call, and what the test itself asks: the server counts them as well.
inline std::set<std::string> const inner_commands{"config",  // by Redis 6.2
                                                  "config|resetstat",
                                                  "del",
                                                  "exists",
                                                  "get",
                                                  "hdel",
                                                  "hexists",
                                                  "hget",
                                                  "hgetall",
                                                  "hlen",
                                                  "hmget",
                                                  "hset",
                                                  "info",
                                                  "pexpire",
                                                  "pexpireat",
                                                  "pttl",
                                                  "set",
                                                  "setrange",
                                                  "time",
                                                  "zadd",
                                                  "publish",
                                                  "zremrangebyscore",
                                                  "zrange",
                                                  "zrem",
                                                  "zscore",
                                                  "mget"};

/// The commands that clients sent since the last CONFIG RESETSTAT, together.
[[nodiscard]] inline std::uint64_t commands_sent_to(redis_server const& server) {
    std::uint64_t out = 0;
    for (auto const& [name, calls] : commands_of(server))
        if (!inner_commands.contains(name)) out += calls;
    return out;
}

/// Many who wait for one name in fair order, over a few clients.
class crowd {
public:
    crowd(std::string const& url, int waiters, std::chrono::milliseconds lease)
        : holder_{url},
          first_{mutex{holder_, "q", {.lease = lease, .order = ordering::fair}}.acquire()} {
        (void)mutex{holder_, "first"}.acquire().release();  // loads the script
        for (int i = 0; i < 4; ++i)
            clients_.emplace_back(url);
        for (int i = 0; i < waiters; ++i) {
            auto& it = places_.emplace_back(clients_[static_cast<std::size_t>(i) % 4], "q",
                                            lock_options{.lease = lease, .order = ordering::fair});
            async_acquire(it, boost::asio::bind_executor(
                                  io_, [this](std::exception_ptr error, lease_type held) {
                                      if (!error) on_grant(std::move(held));
                                  }));
        }
        EXPECT_TRUE(eventually([&] {
            auto const all = holder_.locks("q");
            return all.size() == 1 && all.front().waiters.size() == places_.size();
        }));
    }
    ~crowd() {
        for (auto& it : clients_)
            it.close();
    }
    crowd(crowd const&) = delete;
    crowd& operator=(crowd const&) = delete;

    /// Lets the lock go through so many hands; the last one keeps it.
    void pass_on(int hands) {
        wanted_ = hands;
        EXPECT_EQ(first_.release(), release_outcome::released);
        auto const end = std::chrono::steady_clock::now() + support::patience;
        while (granted_ < wanted_ && std::chrono::steady_clock::now() < end)
            io_.run_one_until(end);
        EXPECT_EQ(granted_, wanted_);
    }

private:
    using lease_type = holdfast::lease;

    void on_grant(lease_type held) {
        last_ = std::move(held);
        if (++granted_ < wanted_) last_ = {};
    }

    client holder_;
    lease_type first_;
    std::vector<client> clients_;
    boost::asio::io_context io_;
    std::deque<mutex> places_;
    lease_type last_;
    int wanted_{0};
    int granted_{0};
};

}  // namespace holdfast::redis_faults
