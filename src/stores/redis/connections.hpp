// The connections of one client to one server: one for commands, and beside it those for what commands would hold up.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/poller.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/replication.hpp"
#include "stores/redis/subscription.hpp"

namespace holdfast::stores::redis {

/// Does with all what has to be done with each. All of them are registered with one poller.
///
/// Thread-safety: none; its owner serialises.
class connections {
public:
    /// Whoever hears what comes in.
    struct listeners {
        connection::watcher& of_commands;
        subscription::listener& of_messages;
        std::function<void(replication::news)> of_replicas;  ///< called with what they confirmed
    };

    /// No messages for an empty channel; no replicas where none has to confirm.
    connections(std::shared_ptr<settings const> to, seam::identity const& self, std::string channel,
                listeners who, net::poller& events);

    /// After a wait: reads from those that are ready, or had more than could be read in one turn.
    void take(std::span<net::poller::event const> events, base::instant now);
    [[nodiscard]] bool has_more() const noexcept;

    /// What time brings.
    void tend(base::instant now);
    [[nodiscard]] base::instant next_due() const noexcept;

    /// A renewal that is asked for again must not follow the first one to where bytes vanish: cuts the
    /// connection for commands when it seems dead, and distrusts the others. Whether it did.
    bool leave_dead(std::chrono::milliseconds answer_within, base::instant now);

    void cut(base::error const& why, base::instant now);

    /// In the child of a fork: lets go of the sockets without a word to the server.
    void abandon() noexcept;

private:
    std::shared_ptr<settings const> to_;

public:
    connection commands;
    std::optional<subscription> messages;
    std::optional<replication> replicas;
};

}  // namespace holdfast::stores::redis
