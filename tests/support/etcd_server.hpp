// A private etcd, of one member or of several.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/etcd_peers.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::support {

struct etcd_server_options {
    std::size_t members{1};
    bool on_disk{false};                   ///< else in memory, which outlives a member as well
    bool tls{false};                       ///< clients must speak TLS; ca.pem is in the directory
    bool client_certificates{false};       ///< and show one: client.pem, client.key
    bool cuttable{false};                  ///< `cut_off` works
    std::vector<std::string> arguments{};  ///< of each member
};

/// Started by the constructor, killed and removed by the destructor. Not thread-safe.
class etcd_server {
public:
    explicit etcd_server(etcd_server_options options = {});
    ~etcd_server();
    etcd_server(etcd_server const&) = delete;
    etcd_server& operator=(etcd_server const&) = delete;

    [[nodiscard]] std::string directory() const { return place_.path().string(); }
    /// etcd:// or etcds:// with all members, or with one. A client needs the certificates besides, see
    /// `certificates`.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::string url(std::size_t member) const;
    /// Options of a URL: the authority to trust, and a client's own certificate.
    [[nodiscard]] std::string certificates() const;
    [[nodiscard]] std::size_t members() const noexcept { return members_.size(); }
    [[nodiscard]] std::uint16_t port(std::size_t member = 0) const {
        return members_[member].client;
    }

    /// What etcdctl prints; throws when it fails. `user`: user:password.
    std::string control(std::vector<std::string> const& words, std::string const& user = {}) const;
    /// How many keys there are.
    [[nodiscard]] std::size_t count_keys(std::string const& user = {}) const;
    /// Creates the administrator and a user with a role that may use the prefix, and asks for users from now on.
    static constexpr char const* administrator = "root:secret";
    void want_users(std::string const& name, std::string const& password,
                    std::string const& prefix) const;

    /// The present revision.
    [[nodiscard]] std::uint64_t revision() const;
    /// Forgets all revisions but the present one.
    void compact() const;

    /// The member that leads.
    [[nodiscard]] std::size_t leader() const;
    /// Stops a member with SIGSTOP and waits until it stands still.
    void stop(std::size_t member = 0);
    void resume(std::size_t member = 0);
    /// Kills a member with SIGKILL; `start` makes a new one with its addresses and data.
    void kill(std::size_t member = 0) noexcept;
    void start(std::size_t member = 0);
    /// Starts all that were killed, at once: one alone answers nothing.
    void start_dead();

    /// Nothing passes any more between a member and the others, until `heal`. Clients reach it.
    void cut_off(std::size_t member);
    void heal() { peers_->heal(); }

    /// How many messages the members took from clients by these methods of etcd's API since they were started.
    /// Without TLS.
    [[nodiscard]] std::uint64_t received(std::vector<std::string> const& methods) const;

    /// Kills all members, and starts them anew with nothing in them.
    void begin_anew();

private:
    struct process_state {
        std::uint16_t client{0};
        std::uint16_t peer{0};
        pid_t id{-1};
    };

    void make_certificates() const;
    void start_all();
    void launch(std::size_t which);
    void await(std::size_t which) const;
    [[nodiscard]] std::vector<std::string> control_command(std::vector<std::string> const& words,
                                                           std::string const& endpoints,
                                                           std::string const& user) const;

    temporary_directory place_;
    etcd_server_options options_;
    std::vector<process_state> members_;
    std::unique_ptr<etcd_peers> peers_;
};

}  // namespace holdfast::support
