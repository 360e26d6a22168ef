// The network between the members of an etcd, which can be cut.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::support {

/// Listens on a port of 127.0.0.1 for each member and passes on what comes for it. Who sends is read from what
/// members say to each other.
/// Thread-safety: every member may be called from any thread at once.
class etcd_peers {
public:
    /// `targets`: where the members listen.
    explicit etcd_peers(std::vector<std::uint16_t> targets);
    ~etcd_peers();
    etcd_peers(etcd_peers const&) = delete;
    etcd_peers& operator=(etcd_peers const&) = delete;

    /// Where a member is reached by the others.
    [[nodiscard]] std::uint16_t port(std::size_t member) const { return doors_[member].port; }

    /// Nothing passes any more between this member and the others. `id`: as it calls itself.
    void cut_off(std::size_t member, std::string id);
    void heal();

private:
    struct door {
        int socket{-1};
        std::uint16_t port{0};
        std::uint16_t target{0};
    };
    struct connection {
        int client{-1};
        int server{-1};
        std::size_t target{0};
        std::string source{};  ///< empty until it is known
    };
    struct island {
        std::size_t member;
        std::string id;
    };

    void serve();
    void accept(std::size_t at);
    [[nodiscard]] bool pass(connection& by, bool request);
    [[nodiscard]] bool is_cut(connection const& which);

    std::vector<door> doors_;
    std::list<connection> connections_;  ///< of the thread
    std::mutex mutex_;
    std::optional<island> island_;  ///< under the mutex
    bool stop_{false};              ///< under the mutex
    std::thread thread_;
};

}  // namespace holdfast::support
