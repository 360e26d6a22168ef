// One server of a store, and the connections of this client to it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/poller.hpp"
#include "stores/redis/connection.hpp"
#include "stores/redis/log_limit.hpp"
#include "stores/redis/replication.hpp"

namespace holdfast::stores::redis {

/// A connection for commands, and one for `replicas`, which commands would have to wait behind.
///
/// Thread-safety: none; its owner serialises.
class node final : connection::watcher {
public:
    /// Whoever hears what happens to it. All with the node.
    class owner {
    public:
        /// Commands can be sent; the clock of the server is known.
        virtual void on_reached(node& to) = 0;
        virtual void on_break(node& to, base::error const& why) = 0;
        /// As that of a connection's watcher, for commands.
        virtual bool takes_over(node& at, question& what, std::string_view words) = 0;
        /// What replicas have confirmed, or have not.
        virtual void on_confirmed(replication::news what) = 0;

    protected:
        ~owner() = default;
    };

    /// By which the poller tells its connections apart.
    struct tags {
        net::poller::tag commands{};
        net::poller::tag replicas{};
    };

    /// `key`: where the write goes that replicas confirm.
    node(std::shared_ptr<settings const> to, seam::lane_id lane, std::string const& name, owner& of,
         std::function<std::string()> key, net::poller& events, tags about);

    [[nodiscard]] settings const& target() const noexcept { return *to_; }
    [[nodiscard]] seam::lane_id lane() const noexcept { return lane_; }

    void take(net::poller::tag ready, base::instant now);
    [[nodiscard]] bool has_more() const noexcept;
    void tend(base::instant now);
    [[nodiscard]] base::instant next_due() const noexcept;

    /// Nothing is under way, and nothing waits for a connection.
    [[nodiscard]] bool is_idle() const noexcept {
        return commands.unanswered() == 0 && (!replicas || replicas->line().unanswered() == 0);
    }

    /// A renewal that is asked for again must not follow the first one to where bytes vanish: cuts the
    /// connection for commands when it seems dead, and distrusts the other. Whether it did.
    bool leave_dead(base::instant now);

    void cut(base::error const& why, base::instant now);
    /// For good: everything that waits fails.
    void end(base::error const& why, base::instant now);
    void abandon() noexcept;

private:
    void on_open() override { owner_.on_reached(*this); }
    void on_push(answer const& what) override;
    void on_break(base::error const& why) override { owner_.on_break(*this, why); }
    bool takes_over(question& what, std::string_view words) override {
        return owner_.takes_over(*this, what, words);
    }

    std::shared_ptr<settings const> to_;
    seam::lane_id lane_;
    owner& owner_;
    tags about_;

public:
    connection commands;
    std::optional<replication> replicas;
    bool down{false};  ///< said in the log, and no answer came since
    log_limit trouble;
};

}  // namespace holdfast::stores::redis
