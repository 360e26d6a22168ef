// A server of the test's own, which says what it likes to whoever comes.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/loopback.hpp"

namespace holdfast::support {

/// One connection to it, as its conduct sees it. Both functions wait; they fail once the server ends.
class raw_socket {
public:
    raw_socket(int descriptor, int number) noexcept : descriptor_{descriptor}, number_{number} {}

    /// What has come, at least one byte; empty at the end.
    [[nodiscard]] std::string receive() const {
        std::string out(4096, '\0');
        auto const count = ::recv(descriptor_, out.data(), out.size(), 0);
        out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return out;
    }
    /// Reads until the end, and says nothing.
    void listen() const {
        while (!receive().empty()) {}
    }
    /// Whether all of it was taken.
    bool send(std::string_view text) const {
        while (!text.empty()) {
            auto const count = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    /// Waits for as long; false at once when the other side, or the server, has ended.
    [[nodiscard]] bool rest(std::chrono::milliseconds span) const {
        pollfd wanted{descriptor_, POLLRDHUP, 0};
        return ::poll(&wanted, 1, static_cast<int>(span.count())) == 0;
    }
    /// Ends the connection as one whose server is gone: whoever writes to it is told that it is broken. What was sent
    /// before can still be read.
    void reset() const {
        sockaddr const nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
        ::connect(descriptor_, &nobody, sizeof nobody);
    }
    /// Which one it is: 0 for the first.
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int descriptor_;
    int number_;
};

/// Listens on a port of 127.0.0.1. Every connection has a thread in which the conduct runs; it is
/// closed when the conduct returns.
/// Thread-safety: every member may be called from any thread at once.
class raw_server {
public:
    using conduct = std::function<void(raw_socket const&)>;

    explicit raw_server(conduct how) : conduct_{std::move(how)} {
        socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        // As on a real network: with the large segments of loopback a flood comes in gulps.
        int const segment = 1400;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
        // As servers do it: what is said goes out at once.
        int const at_once = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        auto any = loopback();
        socklen_t length = sizeof any;
        if (::bind(socket_, raw(any), length) != 0 || ::listen(socket_, 128) != 0 ||
            ::getsockname(socket_, raw(any), &length) != 0)
            throw std::system_error{errno, std::generic_category(), "listen"};
        port_ = ntohs(any.sin_port);
        acceptor_ = std::thread{[this] { serve(); }};
    }
    ~raw_server() {
        ::shutdown(socket_, SHUT_RDWR);
        acceptor_.join();
        {
            std::lock_guard const guard{mutex_};
            for (auto const& it : visits_)
                ::shutdown(it.descriptor, SHUT_RDWR);
        }
        for (auto& it : visits_) {
            it.thread.join();
            ::close(it.descriptor);
        }
        ::close(socket_);
    }
    raw_server(raw_server const&) = delete;
    raw_server& operator=(raw_server const&) = delete;

    /// redis:// with these options, "?timeout=500ms" for one.
    [[nodiscard]] std::string url(std::string const& options = {}) const {
        return "redis://127.0.0.1:" + std::to_string(port_) + options;
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int connections() const noexcept { return connections_; }

private:
    struct visit {
        int descriptor{-1};
        std::thread thread{};
    };

    void serve() {
        for (;;) {
            int const one = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
            if (one < 0) return;
            std::lock_guard const guard{mutex_};
            auto& mine = visits_.emplace_back(visit{one});
            mine.thread = std::thread{[this, socket = raw_socket{one, connections_++}, one] {
                conduct_(socket);
                ::shutdown(one, SHUT_RDWR);
            }};
        }
    }

    conduct conduct_;
    int socket_{-1};
    std::uint16_t port_{0};
    std::atomic<int> connections_{0};
    std::mutex mutex_;  ///< guards `visits_` while the acceptor runs
    std::list<visit> visits_;
    std::thread acceptor_;
};

}  // namespace holdfast::support
