// A private master with replicas, and the sentinels that watch them.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::support {

struct redis_sentinels_options {
    bool tls{false};
    std::chrono::milliseconds down_after{1000};          ///< of silence a master counts as dead
    std::array<std::chrono::seconds, 3> clocks_ahead{};  ///< of the servers
    std::vector<std::string> arguments{};                ///< further ones for each server
    std::string sentinel_lines{};         ///< further ones for each sentinel's configuration
    unsigned epoch{0};                    ///< of the first configuration: as after so many switches
    std::array<redis_place, 6> places{};  ///< of the servers, then of the sentinels
};

/// Three servers and three sentinels. When it is made, the sentinels know of each other and of all servers, and the
/// replicas are in step. They end as a single server does. Not thread-safe.
class redis_sentinels {
public:
    static constexpr char const* master_name = "main";

    explicit redis_sentinels(redis_sentinels_options options = {});

    /// redis+sentinel:// or rediss+sentinel:// with all sentinels.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::string authority() const { return servers_.front()->authority(); }

    [[nodiscard]] redis_server& server(std::size_t which) { return *servers_[which]; }
    [[nodiscard]] redis_server& sentinel(std::size_t which) { return *sentinels_[which]; }
    /// The server that the sentinels agree on, once they do.
    [[nodiscard]] redis_server& master();

    /// Has the sentinels move the master elsewhere, and waits until they agree on that.
    void fail_over();
    /// Waits until the sentinels have found another master than `old`.
    void await_other_than(redis_server const& old);
    /// Waits until all servers that live follow the master.
    void await_in_step();

    /// Kills the sentinels and begins anew with as many, which have none of the files of those before: they know the
    /// master of this moment, and count from the beginning. Waits until they know all others.
    void make_sentinels_anew();

private:
    [[nodiscard]] std::uint16_t master_port() const;
    /// The configuration of a sentinel that knows nothing but its master.
    [[nodiscard]] std::string first_lines(std::uint16_t master_port) const;

    redis_sentinels_options options_;
    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<std::unique_ptr<redis_server>> sentinels_;
};

}  // namespace holdfast::support
