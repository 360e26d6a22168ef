// A private cluster.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::support {

struct redis_cluster_options {
    bool tls{false};
    std::chrono::milliseconds node_timeout{1000};
    std::array<std::chrono::seconds, 6> clocks_ahead{};  ///< of the nodes
    std::vector<std::string> arguments{};                ///< further ones for each node
    std::vector<redis_place> places{};                   ///< of the nodes; empty: any
};

/// Six nodes: masters of a third of the slots each, and a replica of each. When it is made, all agree on that and the replicas
/// are in step. They end as a single server does. Not thread-safe.
class redis_cluster {
public:
    explicit redis_cluster(redis_cluster_options options = {});

    /// redis+cluster:// or rediss+cluster:// with two of the nodes.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::string authority() const { return nodes_.front()->authority(); }

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] redis_server& node(std::size_t which) { return *nodes_[which]; }
    /// By which the nodes know it.
    [[nodiscard]] static std::string id_of(redis_server const& node);

    /// The nodes that take writes, as one that lives sees it.
    [[nodiscard]] std::vector<redis_server*> masters();
    /// That serves a slot, and one of its replicas.
    [[nodiscard]] redis_server& master_of(unsigned slot);
    [[nodiscard]] redis_server& replica_of(redis_server const& master);

    /// Waits until all nodes that live agree, no slot is without a master, and every replica is in step.
    void await_in_step();
    /// Waits until another one than `old` serves the slot, as all nodes that live see it.
    void await_other_than(redis_server const& old, unsigned slot);

    /// Has a replica take over from the master of a slot, by CLUSTER FAILOVER with `how` behind it, and waits until all see
    /// that.
    void fail_over(unsigned slot, std::string const& how = {});

    /// One more node, which knows the others and has no slots.
    redis_server& add_node();
    /// Moves one slot with its keys, as `redis-cli --cluster reshard` does.
    void move_slot(unsigned slot, redis_server& from, redis_server& to);
    /// Its first half: the slot is migrating, and some of its keys have moved.
    void begin_move(unsigned slot, redis_server& from, redis_server& to);
    /// Its second half.
    void end_move(unsigned slot, redis_server& from, redis_server& to);
    /// Instead of its second half: the slot stays where it was.
    void give_up_move(unsigned slot, redis_server& from, redis_server& to);

private:
    [[nodiscard]] redis_server_options options_of_node(std::size_t which) const;
    /// Waits for it; throws with what the nodes see when it does not come.
    void await(std::function<bool()> const& met, char const* what);
    [[nodiscard]] bool is_served_by_another(redis_server const& old, unsigned slot) const;
    [[nodiscard]] redis_server& living();
    [[nodiscard]] redis_server& with_port(unsigned port);
    void meet(redis_server& whom);

    redis_cluster_options options_;
    std::vector<std::unique_ptr<redis_server>> nodes_;
};

}  // namespace holdfast::support
