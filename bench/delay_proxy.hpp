// Servers that are further away than this machine: what passes through is late by a given time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench {

/// Listens on a port of its own for each server. One thread forwards everything, half of the delay on the way there and
/// half on the way back.
class delay_proxy {
public:
    delay_proxy(std::vector<std::uint16_t> const& servers, std::chrono::microseconds round_trip)
        : one_way_{round_trip / 2}, silent_(servers.size()) {
        for (auto const port : servers)
            doors_.push_back({listen_anywhere(), port});
        thread_ = std::thread{[this] { forward(); }};
    }
    ~delay_proxy() {
        ended_ = true;
        thread_.join();
        for (auto const& each : doors_)
            ::close(each.listener);
        for (auto const& each : pipes_)
            close_both(each);
    }
    delay_proxy(delay_proxy const&) = delete;
    delay_proxy& operator=(delay_proxy const&) = delete;

    [[nodiscard]] std::string address(std::size_t server) const {
        sockaddr_in at{};
        socklen_t size = sizeof at;
        ::getsockname(doors_[server].listener, static_cast<sockaddr*>(static_cast<void*>(&at)),
                      &size);
        return "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    }

    /// As if the server stood still: connections stay, and nothing comes back.
    void silence(std::size_t server, bool silent) { silent_[server] = silent; }

private:
    using instant = std::chrono::steady_clock::time_point;
    struct parcel {
        instant due;
        std::string bytes;
    };
    struct door {
        int listener;
        std::uint16_t server;
    };
    struct pipe {
        std::size_t server;
        int ends[2];               ///< the client's and the server's
        std::deque<parcel> to[2];  ///< on their way to that end
        bool broken{false};
    };

    static void require(bool met) {
        if (!met) throw std::runtime_error{"the proxy cannot listen or connect"};
    }
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in out{};
        out.sin_family = AF_INET;
        out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        out.sin_port = htons(port);
        return out;
    }
    static int make_socket() {
        int const out = ::socket(AF_INET, SOCK_STREAM, 0);
        int const on = 1;
        require(out >= 0 && ::setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
        return out;
    }
    static int listen_anywhere() {
        int const out = make_socket();
        auto const at = loopback(0);
        auto const* const raw = static_cast<sockaddr const*>(static_cast<void const*>(&at));
        require(::bind(out, raw, sizeof at) == 0 && ::listen(out, 64) == 0);
        return out;
    }
    static void close_both(pipe const& of) {
        ::close(of.ends[0]);
        ::close(of.ends[1]);
    }

    void open(std::size_t server) {
        int const client = ::accept(doors_[server].listener, nullptr, nullptr);
        if (client < 0) return;
        int const on = 1;
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        int const to = make_socket();
        auto const at = loopback(doors_[server].server);
        auto const* const raw = static_cast<sockaddr const*>(static_cast<void const*>(&at));
        require(::connect(to, raw, sizeof at) == 0);
        pipes_.push_back({server, {client, to}, {}});
    }

    void read(pipe& from, std::size_t end) const {
        char bytes[64 << 10];
        auto const got = ::recv(from.ends[end], bytes, sizeof bytes, MSG_DONTWAIT);
        if (got > 0)
            from.to[1 - end].push_back({std::chrono::steady_clock::now() + one_way_,
                                        {bytes, static_cast<std::size_t>(got)}});
        else if (got == 0 || errno != EAGAIN)
            from.broken = true;
    }

    // The buffers of sockets hold far more than what is under way here, so that a write waits for nobody.
    static void write_due(pipe& of, instant now) {
        for (std::size_t end = 0; end < 2; ++end)
            for (auto& parcels = of.to[end]; !parcels.empty() && parcels.front().due <= now;
                 parcels.pop_front()) {
                auto const& bytes = parcels.front().bytes;
                auto const put = ::send(of.ends[end], bytes.data(), bytes.size(), MSG_NOSIGNAL);
                of.broken = of.broken || put != static_cast<ssize_t>(bytes.size());
            }
    }

    [[nodiscard]] timespec until_next(instant now) const {
        auto wait = std::chrono::nanoseconds{std::chrono::milliseconds{20}};
        for (auto const& each : pipes_)
            for (auto const& parcels : each.to)
                if (!parcels.empty())
                    wait = std::clamp<std::chrono::nanoseconds>(parcels.front().due - now,
                                                                std::chrono::nanoseconds{0}, wait);
        return {.tv_sec = 0, .tv_nsec = wait.count()};
    }

    void forward() {
        ::prctl(PR_SET_TIMERSLACK, 1UL);
        while (!ended_) {
            std::vector<pollfd> all;
            for (auto const& each : doors_)
                all.push_back({each.listener, POLLIN, 0});
            for (auto const& each : pipes_)
                for (int const end : each.ends)
                    all.push_back({silent_[each.server] ? -1 : end, POLLIN, 0});
            auto const wait = until_next(std::chrono::steady_clock::now());
            ::ppoll(all.data(), all.size(), &wait, nullptr);
            auto found = all.begin() + static_cast<std::ptrdiff_t>(doors_.size());
            for (auto& each : pipes_)
                for (std::size_t end = 0; end < 2; ++end)
                    if ((found++)->revents != 0) read(each, end);
            for (std::size_t i = 0; i < doors_.size(); ++i)
                if (all[i].revents != 0) open(i);
            auto const now = std::chrono::steady_clock::now();
            for (auto& each : pipes_)
                write_due(each, now);
            pipes_.remove_if([](pipe const& each) {
                if (each.broken) close_both(each);
                return each.broken;
            });
        }
    }

    std::chrono::nanoseconds const one_way_;
    std::vector<std::atomic<bool>> silent_;
    std::vector<door> doors_;
    std::list<pipe> pipes_;
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

}  // namespace bench
