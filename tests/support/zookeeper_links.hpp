// A network between the members of a ZooKeeper, which can be cut: from followers to their leader, or for elections.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::support {

/// Listens on a port of 127.0.0.1 for each pair of members and passes on what comes.
/// Thread-safety: every member may be called from any thread at once.
class zookeeper_links {
public:
    /// `targets`: where the members listen for each other.
    explicit zookeeper_links(std::vector<std::uint16_t> targets);
    ~zookeeper_links();
    zookeeper_links(zookeeper_links const&) = delete;
    zookeeper_links& operator=(zookeeper_links const&) = delete;

    /// Where `from` reaches `to`.
    [[nodiscard]] std::uint16_t port(std::size_t from, std::size_t to) const;

    /// What is on its way from now on stays there, and neither side is told.
    void cut(std::size_t from, std::size_t to);
    /// Everything passes again; what was silent meanwhile is broken.
    void heal();

private:
    struct door {
        int socket{-1};
        std::uint16_t port{0};
        std::size_t from{0};
        std::size_t to{0};
    };
    struct connection {
        int client{-1};
        int server{-1};  ///< none yet, when nobody listens there
        int tries{0};
        std::pair<std::size_t, std::size_t> link{};
        bool silenced{false};
    };

    void serve();
    void accept(door const& at);
    /// Whether there is still hope.
    [[nodiscard]] bool reach(connection& which);
    [[nodiscard]] static bool pass(int from, int to);

    std::vector<std::uint16_t> targets_;
    std::vector<door> doors_;
    std::list<connection> connections_;  ///< of the thread
    std::mutex mutex_;
    std::set<std::pair<std::size_t, std::size_t>> cut_;  ///< under the mutex
    bool stop_{false};                                   ///< under the mutex
    std::thread thread_;
};

}  // namespace holdfast::support
