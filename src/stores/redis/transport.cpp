#include "stores/redis/transport.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace holdfast::stores::redis {

namespace {

std::string words_of(int number) { return std::system_category().message(number); }

address address_of_socket(std::string const& path) {
    address out;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
    std::memcpy(&out.bytes, &address, sizeof address);
    out.length = sizeof address;
    return out;
}

std::uint64_t next_serial() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

template <class Value>
void set(int socket, int level, int name, Value value) noexcept {
    ::setsockopt(socket, level, name, &value, sizeof value);
}

}  // namespace

transport::transport(settings const& to, std::function<void()> wake) : to_{to} {
    if (to_.host.empty()) {
        addresses_.push_back(address_of_socket(to_.socket_path));
        connect_next();
    } else {
        resolver_ = std::make_unique<resolver>(to_.host, to_.port, std::move(wake));
        advance();
    }
}

void transport::advance() {
    if (at_ == phase::resolving) resolve();
    if (at_ == phase::connecting) finish_connect();
    if (at_ == phase::securing) secure();
}

void transport::resolve() {
    if (!resolver_->ready()) return;
    addresses_ = resolver_->take(last_trouble_);
    resolver_.reset();
    std::ranges::reverse(addresses_);
    connect_next();
}

void transport::connect_next() {
    while (!addresses_.empty()) {
        auto const where = addresses_.back();
        addresses_.pop_back();
        socket_ = base::descriptor{
            ::socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (!socket_) {
            last_trouble_ = words_of(errno);
            continue;
        }
        serial_ = next_serial();
        at_ = phase::connecting;
        tune();
        auto const* const raw =
            static_cast<sockaddr const*>(static_cast<void const*>(&where.bytes));
        if (::connect(socket_.get(), raw, where.length) == 0 || errno == EINPROGRESS) return;
        last_trouble_ = words_of(errno);
    }
    socket_.reset();
    throw broken{last_trouble_.empty() ? "the host has no address" : last_trouble_};
}

void transport::finish_connect() {
    pollfd entry{socket_.get(), POLLOUT, 0};
    if (::poll(&entry, 1, 0) != 1) return;
    int trouble = 0;
    socklen_t length = sizeof trouble;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &trouble, &length);
    if (trouble != 0) {
        last_trouble_ = words_of(trouble);
        connect_next();
        return;
    }
    if (!to_.tls.on) {
        at_ = phase::open;
        return;
    }
    try {
        tls_ = std::make_unique<tls_session>(to_.tls, to_.host, socket_.get());
    } catch (std::runtime_error const& why) {
        throw broken{why.what()};
    }
    at_ = phase::securing;
}

void transport::secure() {
    auto const step = tls_->shake_hands();
    choked_ = step.wants_write;
    if (!step.trouble.empty()) throw broken{step.trouble};
    if (step.closed) throw broken{"the server ended the connection during the handshake of TLS"};
    if (step.bytes > 0) at_ = phase::open;
}

void transport::tune() {
    auto const socket = socket_.get();
    if (to_.host.empty()) return;
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::uint32_t transport::interest() const noexcept {
    switch (at_) {
    case phase::resolving: return 0;
    case phase::connecting: return EPOLLOUT;
    case phase::securing: return choked_ ? EPOLLOUT : EPOLLIN;
    case phase::open: break;
    }
    return choked_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

bool transport::is_readable() const noexcept {
    pollfd wanted{socket_.get(), POLLIN, 0};
    return ::poll(&wanted, 1, 0) == 1;
}

std::size_t transport::read(std::span<char> into) {
    if (tls_ != nullptr) {
        auto const step = tls_->read(into);
        if (!step.trouble.empty()) throw broken{step.trouble};
        if (step.closed) throw broken{"the server ended the connection"};
        return step.bytes;
    }
    for (;;) {
        auto const got = ::recv(socket_.get(), into.data(), into.size(), 0);
        if (got > 0) return static_cast<std::size_t>(got);
        if (got == 0) throw broken{"the server ended the connection"};
        if (errno == EAGAIN) return 0;
        if (errno != EINTR) throw broken{words_of(errno)};
    }
}

std::size_t transport::write(std::string_view bytes) {
    choked_ = false;
    if (tls_ != nullptr) {
        auto const step = tls_->write(bytes);
        if (!step.trouble.empty()) throw broken{step.trouble};
        if (step.closed) throw broken{"the server ended the connection"};
        choked_ = step.bytes < bytes.size();
        return step.bytes;
    }
    for (;;) {
        auto const put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put >= 0) {
            choked_ = static_cast<std::size_t>(put) < bytes.size();
            return static_cast<std::size_t>(put);
        }
        if (errno == EAGAIN) {
            choked_ = true;
            return 0;
        }
        if (errno != EINTR) throw broken{words_of(errno)};
    }
}

}  // namespace holdfast::stores::redis
