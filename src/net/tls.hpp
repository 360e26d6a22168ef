// TLS over a non-blocking socket. The only file that sees OpenSSL's is tls.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/endpoint.hpp"

namespace holdfast::net {

/// What a step on a stream came to.
struct stream_step {
    std::size_t bytes{0};
    bool closed{false};       ///< the other side has ended it in good order
    bool wants_write{false};  ///< goes on when the socket can be written
    std::string trouble{};    ///< empty when there is none
};

/// One TLS session. Thread-safety: none; its owner serialises.
class tls_session {
public:
    /// Does not own the socket. Throws std::runtime_error when a file of the settings cannot be used.
    tls_session(tls_settings const& how, std::string const& host, int socket);
    ~tls_session();
    tls_session(tls_session const&) = delete;
    tls_session& operator=(tls_session const&) = delete;

    /// Goes on with the handshake; `bytes` is 1 when it is complete.
    [[nodiscard]] stream_step shake_hands();
    [[nodiscard]] stream_step read(std::span<char> into);
    [[nodiscard]] stream_step write(std::string_view bytes);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace holdfast::net
