// A private Redis server.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/free_port.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::support {

/// Where a server is, and how it reaches others. What is 0 is chosen.
struct redis_place {
    std::uint16_t port{0};
    std::uint16_t bus{0};  ///< of a node of a cluster
    std::string routes{};  ///< a file with other ways to some ports: see other_network.cpp
};

struct redis_server_options {
    bool tls{false};                       ///< with a certificate for localhost and 127.0.0.1
    std::vector<std::string> arguments{};  ///< further ones for redis-server
    std::chrono::seconds clock_ahead{0};   ///< of the machine's, or behind it
    std::string sentinel_of{};   ///< it is a sentinel, with these lines in its configuration
    std::string certificates{};  ///< with TLS: the directory of a server that has made them
    redis_place place{};
};

/// Listens on a port of 127.0.0.1 and on a UNIX socket, in a directory of its own. Killed when the
/// object ends, and by the kernel when the thread that made it ends otherwise. Not thread-safe.
class redis_server {
public:
    explicit redis_server(redis_server_options options = {});
    ~redis_server();
    redis_server(redis_server const&) = delete;
    redis_server& operator=(redis_server const&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string socket_path() const { return (place_.path() / "socket").string(); }
    /// The certificate to trust.
    [[nodiscard]] std::string authority() const { return certificates() + "/ca.pem"; }
    /// Where its certificates are, for others that are to have the same.
    [[nodiscard]] std::string certificates() const {
        return options_.certificates.empty() ? directory() : options_.certificates;
    }
    [[nodiscard]] std::string directory() const { return place_.path().string(); }

    /// redis:// or rediss:// with 127.0.0.1 or localhost.
    [[nodiscard]] std::string url() const;

    /// Sends one command over a connection of its own. Arrays come as lines, an error with its '-'.
    std::string ask(std::vector<std::string> const& words) const;

    /// Stops it with SIGSTOP and waits until it stands still.
    void stop();
    void resume();
    /// Kills it with SIGKILL; `start` makes a new one with the same addresses.
    void kill() noexcept;
    void start();

    [[nodiscard]] bool is_alive() const noexcept { return id_ > 0; }
    [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }
    [[nodiscard]] redis_server_options const& options() const noexcept { return options_; }

private:
    void make_certificates() const;
    [[nodiscard]] bool answers() const;
    [[nodiscard]] bool has_wanted_clock() const;

    temporary_directory place_;
    redis_server_options options_;
    std::uint16_t port_{0};
    pid_t id_{-1};
    bool stopped_{false};
};

/// A connection as one of the server's users, for as long as the object lives. Not thread-safe.
class redis_user {
public:
    /// Throws when the server does not let it in.
    redis_user(redis_server const& at, std::string const& name, std::string const& password);
    ~redis_user();
    redis_user(redis_user const&) = delete;
    redis_user& operator=(redis_user const&) = delete;

    /// As that of the server.
    std::string ask(std::vector<std::string> const& words);
    /// What comes next by itself, such as a message of a channel: its parts as lines.
    std::string hear();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast::support
