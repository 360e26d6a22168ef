// A private MariaDB server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/temporary_directory.hpp"

namespace holdfast::support {

struct mysql_server_options {
    bool tls{false};  ///< offered, with a certificate for localhost and 127.0.0.1
    /// Flushes to the disk at every commit, as a server does unless it is told otherwise; else only to the kernel, so
    /// that what was acknowledged outlives a kill, but not a loss of power.
    bool durable{false};
    std::vector<std::string> arguments{};  ///< further ones for mariadbd
    bool disk_fills{false};                ///< `fill_disk` may be called
};

/// Listens on a port of 127.0.0.1 and on a UNIX socket, in a directory of its own, as an unprivileged user when
/// the tests run as root. `root` needs no password; the database `holdfast` is there and empty. Killed when the object
/// ends, and by the kernel when the thread that made it ends otherwise. Not thread-safe.
class mysql_server {
public:
    explicit mysql_server(mysql_server_options options = {});
    ~mysql_server();
    mysql_server(mysql_server const&) = delete;
    mysql_server& operator=(mysql_server const&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string directory() const { return place_.path().string(); }
    [[nodiscard]] std::string socket() const { return directory() + "/socket"; }
    /// The certificate to trust.
    [[nodiscard]] std::string authority() const { return directory() + "/ca.pem"; }
    [[nodiscard]] std::string url(std::string const& login = "root",
                                  std::string const& database = "holdfast") const;

    /// Runs SQL as root, by the UNIX socket; by any thread at once. Columns are separated by tabs, rows by lines. Throws when it fails.
    std::string ask(std::string const& sql, std::string const& database = "holdfast") const;

    /// Ends the connections of all clients but its own, and drops the tables of holdfast.
    void clear();

    /// From now on its tables cannot grow, until there is room again; see other_disk.cpp.
    void fill_disk() const;
    void clear_disk() const;

    /// Stops it with SIGSTOP.
    void stop();
    void resume();
    /// Kills it with SIGKILL; `start` makes a new one over the same data at the same addresses.
    void kill() noexcept;
    void start();
    /// Of one that was killed: it is to start as a new one would, with an empty database.
    void lose_data();

private:
    void make_data();
    void make_certificates() const;
    [[nodiscard]] bool answers() const;

    temporary_directory place_;
    mysql_server_options options_;
    std::uint16_t port_{0};
    pid_t id_{-1};
};

}  // namespace holdfast::support
