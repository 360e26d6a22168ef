// A stream of bytes to one server: TCP, TCP with TLS, or a UNIX socket; it never waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "stores/redis/resolver.hpp"
#include "stores/redis/settings.hpp"
#include "stores/redis/tls.hpp"

namespace holdfast::stores::redis {

/// The stream cannot be made, or broke.
class broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Made anew for each try. Thread-safety: none; its owner serialises.
class transport {
public:
    /// Begins to connect. `wake` is called from any thread when `advance` should be. Throws `broken`.
    transport(settings const& to, std::function<void()> wake);

    /// Goes on with connecting, as far as it can without waiting. Throws `broken` when no address
    /// of the server can be reached.
    void advance();

    [[nodiscard]] bool is_open() const noexcept { return at_ == phase::open; }

    /// In the child of a fork: lets go of the socket without a word to the server.
    void abandon() noexcept { socket_.reset(); }

    /// -1 while the host is being looked up.
    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
    /// What to wait for, as epoll(7) takes it.
    [[nodiscard]] std::uint32_t interest() const noexcept;
    /// No other socket of the process ever had this number.
    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

    /// Whether there is something to read, or an end to be seen, as far as the system knows.
    [[nodiscard]] bool is_readable() const noexcept;

    /// How many bytes were read; 0 when there are none now. Throws `broken`, at the end too.
    [[nodiscard]] std::size_t read(std::span<char> into);
    /// How many bytes were taken; 0 when there is no room now. Throws `broken`.
    [[nodiscard]] std::size_t write(std::string_view bytes);

private:
    enum class phase { resolving, connecting, securing, open };

    void resolve();
    void connect_next();
    void finish_connect();
    void secure();
    void tune();

    settings const& to_;
    phase at_{phase::resolving};
    std::unique_ptr<resolver> resolver_;
    std::vector<address> addresses_;  ///< not yet tried, the next one last
    base::descriptor socket_;
    std::uint64_t serial_{0};
    std::unique_ptr<tls_session> tls_;
    std::string last_trouble_;
    bool choked_{false};
};

}  // namespace holdfast::stores::redis
