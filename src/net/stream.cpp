#include "net/stream.hpp"

#include <algorithm>
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

namespace holdfast::net {

namespace {

std::string words_of(int number) { return std::system_category().message(number); }

address address_of_socket(std::string const& path) {
    sockaddr_un local{};
    static_assert(sizeof local.sun_path == longest_socket_path + 1);
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, path.c_str(), std::min(path.size(), longest_socket_path));
    address out;
    std::memcpy(&out.bytes, &local, sizeof local);
    out.length = sizeof local;
    return out;
}

void set(int socket, int level, int name, int value) noexcept {
    ::setsockopt(socket, level, name, &value, sizeof value);
}

std::size_t bytes_of(stream_step const& step) {
    if (!step.trouble.empty()) throw broken{step.trouble};
    if (step.closed) throw broken{"the server ended the connection"};
    return step.bytes;
}

}  // namespace

stream::stream(poller& events, poller::tag about, endpoint const& to)
    : events_{events}, about_{about}, to_{to} {
    if (to_.host.empty()) {
        addresses_.push_back(address_of_socket(to_.socket_path));
        connect_next();
        return;
    }
    try {
        resolver_ = std::make_unique<resolver>(to_.host, to_.port, [&events] { events.wake(); });
    } catch (std::system_error const& why) {
        throw broken{"the host cannot be looked up: " + why.code().message()};
    }
    advance();
}

void stream::advance() {
    if (at_ == phase::resolving) resolve();
    if (at_ == phase::connecting) finish_connect();
    if (at_ == phase::securing) secure();
}

// --- connecting --------------------------------------------------------------------------------

void stream::resolve() {
    if (!resolver_->ready()) return;
    addresses_ = resolver_->take(last_trouble_);
    resolver_.reset();
    std::ranges::reverse(addresses_);
    connect_next();
}

void stream::connect_next() {
    while (!addresses_.empty()) {
        auto const where = addresses_.back();
        addresses_.pop_back();
        registration_.end();
        socket_ = base::descriptor{
            ::socket(where.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (socket_ && connect_to(where)) return;
        last_trouble_ = words_of(errno);
    }
    socket_.reset();
    throw broken{last_trouble_.empty() ? "the host has no address" : last_trouble_};
}

bool stream::connect_to(address const& where) {
    tune();
    if (::connect(socket_.get(), where.raw(), where.length) != 0 && errno != EINPROGRESS)
        return false;
    at_ = phase::connecting;
    register_interest();
    return true;
}

void stream::finish_connect() {
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
    if (to_.tls.on) {
        try {
            tls_ = std::make_unique<tls_session>(to_.tls, to_.host, socket_.get());
        } catch (std::runtime_error const& why) {
            throw broken{why.what()};
        }
        at_ = phase::securing;
    } else {
        at_ = phase::open;
    }
    register_interest();
}

void stream::secure() {
    auto const step = tls_->shake_hands();
    if (!step.trouble.empty()) throw broken{step.trouble};
    if (step.closed) throw broken{"the server ended the connection during the handshake of TLS"};
    if (step.bytes > 0) at_ = phase::open;
    choke(step.wants_write);
}

void stream::tune() noexcept {
    if (to_.host.empty()) return;
    auto const socket = socket_.get();
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(to_.keepalive.idle.count()));
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(to_.keepalive.interval.count()));
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, to_.keepalive.probes);
}

// --- what the poller looks for -----------------------------------------------------------------

std::uint32_t stream::interest() const noexcept {
    switch (at_) {
    case phase::resolving: return 0;
    case phase::connecting: return EPOLLOUT;
    case phase::securing: return choked_ ? EPOLLOUT : EPOLLIN;
    case phase::open: break;
    }
    return choked_ ? EPOLLIN | EPOLLOUT : EPOLLIN;
}

void stream::register_interest() try {
    if (at_ == phase::connecting) {
        registration_ = events_.add(socket_.get(), interest(), about_);
    } else {
        registration_.want(interest());
    }
} catch (std::system_error const& why) {
    throw broken{"the socket cannot be watched: " + why.code().message()};
}

void stream::choke(bool on) {
    choked_ = on;
    register_interest();
}

bool stream::is_readable() const noexcept {
    pollfd wanted{socket_.get(), POLLIN, 0};
    return ::poll(&wanted, 1, 0) == 1;
}

// --- bytes -------------------------------------------------------------------------------------

std::size_t stream::read(std::span<char> into) {
    if (tls_ != nullptr) return bytes_of(tls_->read(into));
    for (;;) {
        auto const got = ::recv(socket_.get(), into.data(), into.size(), 0);
        if (got > 0) return static_cast<std::size_t>(got);
        if (got == 0) throw broken{"the server ended the connection"};
        if (errno == EAGAIN) return 0;
        if (errno != EINTR) throw broken{words_of(errno)};
    }
}

std::size_t stream::write(std::string_view bytes) {
    std::size_t taken = 0;
    if (tls_ != nullptr) {
        taken = bytes_of(tls_->write(bytes));
    } else {
        for (;;) {
            auto const put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0 && errno != EAGAIN) throw broken{words_of(errno)};
            if (put > 0) taken = static_cast<std::size_t>(put);
            break;
        }
    }
    choke(taken < bytes.size());
    return taken;
}

}  // namespace holdfast::net
