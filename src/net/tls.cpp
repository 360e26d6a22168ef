#include "net/tls.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace holdfast::net {

namespace {

struct closer {
    void operator()(SSL_CTX* context) const noexcept { ::SSL_CTX_free(context); }
    void operator()(SSL* session) const noexcept { ::SSL_free(session); }
};

std::string last_words() {
    auto const code = ::ERR_get_error();
    ::ERR_clear_error();
    if (code == 0) return "no reason is given";
    auto const* const words = ::ERR_reason_error_string(code);
    return words != nullptr ? words : "error " + std::to_string(code);
}

[[noreturn]] void refuse(std::string words) { throw std::runtime_error{std::move(words)}; }

bool is_number(std::string const& host) {
    in6_addr any;
    return ::inet_pton(AF_INET, host.c_str(), &any) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

// --- a socket as OpenSSL sees it ---------------------------------------------------------------

// OpenSSL's own writes to a socket with write(2), which raises SIGPIPE when the other side is gone, and ends a
// program that does not ignore it. This one sends without the signal, and is otherwise the same.

int socket_of(BIO* stream) { return *static_cast<int*>(::BIO_get_data(stream)); }

int socket_write(BIO* stream, char const* bytes, int count) {
    ::BIO_clear_flags(stream, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    auto const put =
        ::send(socket_of(stream), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
    if (put < 0 && (errno == EAGAIN || errno == EINTR))
        ::BIO_set_flags(stream, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
    return static_cast<int>(put);
}

int socket_read(BIO* stream, char* bytes, int count) {
    ::BIO_clear_flags(stream, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    auto const got = ::recv(socket_of(stream), bytes, static_cast<std::size_t>(count), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        ::BIO_set_flags(stream, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
    if (got == 0) ::BIO_set_flags(stream, BIO_FLAGS_IN_EOF);
    return static_cast<int>(got);
}

long socket_control(BIO* stream, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;
    if (command == BIO_CTRL_EOF) return ::BIO_test_flags(stream, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return 0;
}

/// Lives for ever, as sessions of static objects do.
BIO_METHOD const* quiet_socket() {
    static BIO_METHOD const* const method = [] {
        auto* const made =
            ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
        if (made == nullptr) refuse("TLS cannot be used: " + last_words());
        ::BIO_meth_set_write(made, socket_write);
        ::BIO_meth_set_read(made, socket_read);
        ::BIO_meth_set_ctrl(made, socket_control);
        return made;
    }();
    return method;
}

using context_ptr = std::unique_ptr<SSL_CTX, closer>;

context_ptr make_context(tls_settings const& how) {
    // OpenSSL would tidy itself up at exit, before a client that is a static object says good-bye. Without
    // effect where the program has used OpenSSL already, in its own way.
    ::OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
    ::ERR_clear_error();
    context_ptr out{::SSL_CTX_new(::TLS_client_method())};
    if (out == nullptr) refuse("TLS cannot be used: " + last_words());
    ::SSL_CTX_set_min_proto_version(out.get(), TLS1_2_VERSION);
    ::SSL_CTX_set_mode(out.get(),
                       SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (how.insecure) {
        ::SSL_CTX_set_verify(out.get(), SSL_VERIFY_NONE, nullptr);
    } else {
        ::SSL_CTX_set_verify(out.get(), SSL_VERIFY_PEER, nullptr);
        bool const trusts =
            how.authorities.empty()
                ? ::SSL_CTX_set_default_verify_paths(out.get()) == 1
                : ::SSL_CTX_load_verify_locations(out.get(), how.authorities.c_str(), nullptr) == 1;
        if (!trusts)
            refuse("the certificates to trust ('ca' = '" + how.authorities +
                   "') cannot be used: " + last_words());
    }
    if (how.certificate.empty()) return out;
    if (::SSL_CTX_use_certificate_chain_file(out.get(), how.certificate.c_str()) != 1)
        refuse("the certificate '" + how.certificate + "' cannot be used: " + last_words());
    if (::SSL_CTX_use_PrivateKey_file(out.get(), how.key.c_str(), SSL_FILETYPE_PEM) != 1)
        refuse("the key '" + how.key + "' cannot be used: " + last_words());
    return out;
}

}  // namespace

struct tls_session::state {
    int socket{-1};
    context_ptr context;
    std::unique_ptr<SSL, closer> session;

    stream_step judge(int result) {
        stream_step out;
        if (result > 0) {
            out.bytes = static_cast<std::size_t>(result);
            return out;
        }
        auto const number = errno;
        switch (::SSL_get_error(session.get(), result)) {
        case SSL_ERROR_WANT_READ: break;
        case SSL_ERROR_WANT_WRITE: out.wants_write = true; break;
        case SSL_ERROR_ZERO_RETURN: out.closed = true; break;
        case SSL_ERROR_SYSCALL:
            out.trouble = number != 0 ? std::system_category().message(number)
                                      : "the connection was cut in the middle of TLS";
            break;
        default: out.trouble = failure();
        }
        ::ERR_clear_error();
        return out;
    }

    // The options are named alike in the URLs of all stores.
    std::string failure() {
        auto const verdict = ::SSL_get_verify_result(session.get());
        if (verdict != X509_V_OK) {
            ::ERR_clear_error();
            return std::string{"the server's certificate is not taken: "} +
                   ::X509_verify_cert_error_string(verdict) +
                   "; see the options 'ca' and 'servername' of the store URL";
        }
        return "TLS failed: " + last_words() +
               "; if the server has no TLS on this port, the store URL is that of a plain "
               "connection";
    }
};

tls_session::tls_session(tls_settings const& how, std::string const& host, int socket)
    : state_{std::make_unique<state>()} {
    state_->context = make_context(how);
    state_->session.reset(::SSL_new(state_->context.get()));
    auto* const session = state_->session.get();
    auto* const stream = session != nullptr ? ::BIO_new(quiet_socket()) : nullptr;
    if (stream == nullptr) refuse("TLS cannot be used: " + last_words());
    state_->socket = socket;
    ::BIO_set_data(stream, &state_->socket);
    ::BIO_set_init(stream, 1);
    ::SSL_set_bio(session, stream, stream);
    auto const& name = how.server_name.empty() ? host : how.server_name;
    if (is_number(name)) {
        if (!how.insecure &&
            ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), name.c_str()) != 1)
            refuse("TLS cannot check the address '" + name + "': " + last_words());
    } else {
        // What SSL_set_tlsext_host_name stands for, without its cast.
        ::SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                   const_cast<char*>(name.c_str()));
        if (!how.insecure && ::SSL_set1_host(session, name.c_str()) != 1)
            refuse("TLS cannot check the host name '" + name + "': " + last_words());
    }
    ::SSL_set_connect_state(session);
}

tls_session::~tls_session() = default;

stream_step tls_session::shake_hands() {
    ::ERR_clear_error();
    errno = 0;
    return state_->judge(::SSL_do_handshake(state_->session.get()));
}

stream_step tls_session::read(std::span<char> into) {
    ::ERR_clear_error();
    errno = 0;
    auto const most = static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX));
    return state_->judge(::SSL_read(state_->session.get(), into.data(), most));
}

stream_step tls_session::write(std::string_view bytes) {
    if (bytes.empty()) return {};
    ::ERR_clear_error();
    errno = 0;
    auto const most = static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX));
    return state_->judge(::SSL_write(state_->session.get(), bytes.data(), most));
}

}  // namespace holdfast::net
