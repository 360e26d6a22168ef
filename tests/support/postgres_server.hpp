// A private PostgreSQL server, and a pgbouncer in front of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/temporary_directory.hpp"

namespace holdfast::support {

struct postgres_server_options {
    bool tls{false};                       ///< with a certificate for localhost and 127.0.0.1
    std::vector<std::string> arguments{};  ///< further ones for postgres
    std::string authentication{"trust"};   ///< of connections by TCP; the superuser is `postgres`
    std::string standby_of{};              ///< the conninfo of a primary whose standby it becomes
    bool disk_fills{false};                ///< `fill_disk` may be called
};

/// Listens on a port of 127.0.0.1 and on a UNIX socket, in a directory of its own, as an unprivileged user when
/// the tests run as root. Killed when the object ends, and by the kernel when the thread that made it
/// ends otherwise. Not thread-safe.
class postgres_server {
public:
    explicit postgres_server(postgres_server_options options = {});
    ~postgres_server();
    postgres_server(postgres_server const&) = delete;
    postgres_server& operator=(postgres_server const&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string directory() const { return place_.path().string(); }
    /// The certificate to trust.
    [[nodiscard]] std::string authority() const { return directory() + "/ca.pem"; }
    [[nodiscard]] std::string url(std::string const& login = "postgres",
                                  std::string const& database = "postgres") const;

    /// Runs SQL as the superuser, by the UNIX socket. Columns are separated by '|', rows by lines. Throws when
    /// it fails.
    std::string ask(std::string const& sql, std::string const& database = "postgres") const;

    /// Ends the connections of all clients, and drops the tables of holdfast.
    void clear() const;

    /// From now on its tables cannot grow, until there is room again; see other_disk.cpp.
    void fill_disk() const;
    void clear_disk() const;

    /// Stops all of its processes with SIGSTOP.
    void stop();
    void resume();
    /// Kills it with SIGKILL; `start` makes a new one over the same data at the same addresses.
    void kill() noexcept;
    void start();
    /// Of one that was killed: it is to start as a new one would.
    void lose_data();

private:
    void make_data();
    void make_certificates() const;
    [[nodiscard]] bool answers() const;

    temporary_directory place_;
    postgres_server_options options_;
    std::uint16_t port_{0};
    pid_t id_{-1};
};

/// In transaction mode, with two connections to the server. Not thread-safe.
class pgbouncer {
public:
    explicit pgbouncer(postgres_server const& behind);
    ~pgbouncer();
    pgbouncer(pgbouncer const&) = delete;
    pgbouncer& operator=(pgbouncer const&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const;

private:
    temporary_directory place_;
    std::uint16_t port_{0};
    pid_t id_{-1};
};

}  // namespace holdfast::support
