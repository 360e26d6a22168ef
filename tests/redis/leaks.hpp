// What clients have at their servers while they use them.
#pragma once

#include <vector>

#include "redis/fixture.hpp"
#include "support/fenced_load.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"

namespace holdfast::redis_faults {

/// The servers of a store, each in all the places where it belongs.
struct used_servers {
    std::vector<redis_server const*> masters;
    std::vector<redis_server const*> guides;    ///< may be asked who the masters are
    std::vector<redis_server const*> others{};  ///< nobody has anything to do with them
};

[[nodiscard]] used_servers in_use(support::redis_sentinels& servers);
/// `removed`: a node that is not one of theirs any more.
[[nodiscard]] used_servers in_use(support::redis_cluster& nodes,
                                  redis_server const* removed = nullptr);

/// Expects that before long each of so many clients, all of which have waited for something, has at most one connection
/// of each kind at each server, none at those where it has nothing to do, and hears of its grants by one subscription.
/// To be called while the clients live: what they have is closed with them.
void expect_no_leaks(used_servers const& at,
                     std::size_t clients = support::load_options{}.processes);

/// How many connections of ours a server has.
[[nodiscard]] std::size_t connections_of_ours(redis_server const& server);

}  // namespace holdfast::redis_faults
