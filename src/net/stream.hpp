// A stream of bytes to one server: TCP, TCP with TLS, or a UNIX socket; it never waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "net/address.hpp"
#include "net/endpoint.hpp"
#include "net/poller.hpp"
#include "net/resolver.hpp"
#include "net/tls.hpp"

namespace holdfast::net {

/// The stream cannot be made, or broke.
class broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Made anew for each try. Looks the host up, tries its addresses one after the other, and greets by TLS where
/// that is wanted; meanwhile, and afterwards, its socket is registered with a poller for whatever it
/// needs next.
///
/// Thread-safety: none; its owner serialises. Another thread may wait on the poller.
/// Lifetime: the poller and `to` outlive it.
class stream {
public:
    /// Begins to connect. The poller reports `about` when the stream wants `advance`, `read` or `write`
    /// called, and wakes when the host was looked up. Throws `broken`.
    stream(poller& events, poller::tag about, endpoint const& to);

    /// Goes on with connecting, as far as it can without waiting. Throws `broken` when no address
    /// of the server can be reached.
    void advance();

    [[nodiscard]] bool is_open() const noexcept { return at_ == phase::open; }
    /// Connected, and in the handshake of TLS.
    [[nodiscard]] bool is_securing() const noexcept { return at_ == phase::securing; }

    /// In the child of a fork: lets go of the socket without a word to the server.
    void abandon() noexcept { socket_.reset(); }

    /// Whether there is something to read, or an end to be seen, as far as the system knows.
    [[nodiscard]] bool is_readable() const noexcept;

    /// May have more to read than the system, and so the poller, knows of. It is read until it gives
    /// nothing.
    [[nodiscard]] bool reads_ahead() const noexcept { return tls_ != nullptr; }

    /// How many bytes were read; 0 when there are none now. Throws `broken`, at the end too.
    [[nodiscard]] std::size_t read(std::span<char> into);
    /// How many bytes were taken; 0 when there is no room now. Throws `broken`.
    [[nodiscard]] std::size_t write(std::string_view bytes);

private:
    enum class phase { resolving, connecting, securing, open };

    void resolve();
    void connect_next();
    [[nodiscard]] bool connect_to(address const& where);
    void finish_connect();
    void secure();
    void tune() noexcept;
    void choke(bool on);
    void register_interest();
    [[nodiscard]] std::uint32_t interest() const noexcept;

    poller& events_;
    poller::tag const about_;
    endpoint const& to_;
    phase at_{phase::resolving};
    std::unique_ptr<resolver> resolver_;
    std::vector<address> addresses_;  ///< not yet tried, the next one last
    base::descriptor socket_;
    poller::registration registration_;  ///< of the socket, and ends before it
    std::unique_ptr<tls_session> tls_;
    std::string last_trouble_;
    bool choked_{false};  ///< goes on when the socket has room
};

}  // namespace holdfast::net
