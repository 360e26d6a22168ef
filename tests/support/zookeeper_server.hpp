// A private ZooKeeper, of one server or of several.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/temporary_directory.hpp"
#include "support/zookeeper_links.hpp"

namespace holdfast::support {

struct zookeeper_server_options {
    std::size_t members{1};
    bool on_disk{false};   ///< and synced; else in memory, which outlives a member as well
    bool cuttable{false};  ///< `cut_off_from` works
    bool fast{false};      ///< takes longer to start and answers sooner
    std::chrono::milliseconds tick{200};
    std::chrono::milliseconds longest_session{600'000};
    int sync_limit{50};  ///< ticks without a word after which a follower is given up
};

/// Started by the constructor, killed and removed by the destructor. Not thread-safe.
class zookeeper_server {
public:
    explicit zookeeper_server(zookeeper_server_options options = {});
    ~zookeeper_server();
    zookeeper_server(zookeeper_server const&) = delete;
    zookeeper_server& operator=(zookeeper_server const&) = delete;

    /// zookeeper:// with all members, or with one, and the tick.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::string url(std::size_t member) const;
    [[nodiscard]] std::size_t members() const noexcept { return members_.size(); }
    [[nodiscard]] std::uint16_t port(std::size_t member = 0) const {
        return members_[member].client;
    }

    /// What ZooKeeper's own client prints about a command, such as `ls /`; throws when it fails.
    std::string control(std::string const& command) const;

    [[nodiscard]] bool leads(std::size_t member) const;
    /// The member that leads; also the only one.
    [[nodiscard]] std::size_t leader() const;
    /// Stops a member with SIGSTOP and waits until it stands still.
    void stop(std::size_t member = 0);
    void resume(std::size_t member = 0);
    /// Kills a member with SIGKILL; `start` makes a new one with its addresses and data.
    void kill(std::size_t member = 0) noexcept;
    void start(std::size_t member = 0) { start_all({member}); }
    /// All at once: one alone answers nothing.
    void start_dead();

    /// Kills all members, and starts them anew with nothing in them.
    void begin_anew();

    /// Nothing passes any more between a follower and its leader, and neither is told, until `heal`. Clients reach
    /// both.
    void cut_off_from(std::size_t follower, std::size_t leader);
    /// The same between a leader and all of its followers.
    void cut_off(std::size_t leader);
    void heal();

    /// How many nodes a member has, ZooKeeper's own among them.
    [[nodiscard]] std::uint64_t nodes(std::size_t member = 0) const;

private:
    struct process_state {
        std::uint16_t client{0};
        std::uint16_t quorum{0};
        std::uint16_t election{0};
        pid_t id{-1};
    };

    [[nodiscard]] std::string options_of_url() const;
    [[nodiscard]] std::string directory() const { return place_.path().string(); }
    void start_all(std::vector<std::size_t> const& which);
    void launch(std::size_t which);

    temporary_directory place_;
    zookeeper_server_options options_;
    std::vector<process_state> members_;
    std::unique_ptr<zookeeper_links> links_;  ///< from followers to leaders
    std::unique_ptr<zookeeper_links> election_links_;
};

}  // namespace holdfast::support
