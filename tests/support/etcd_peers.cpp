#include "support/etcd_peers.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/loopback.hpp"

namespace holdfast::support {

namespace {

constexpr int turn = 5;  // milliseconds: how soon a wish is noticed

int new_socket() {
    int const out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out < 0) throw std::system_error{errno, std::generic_category(), "socket"};
    int const yes = 1;
    ::setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return out;
}

bool send_all(int to, std::string_view text) {
    while (!text.empty()) {
        auto const count = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// Every message of a member to another one says whom it is from.
std::string source_in(std::string_view request) {
    constexpr std::string_view header = "X-Server-From: ";
    auto const at = request.find(header);
    if (at == std::string_view::npos) return {};
    auto const rest = request.substr(at + header.size());
    return std::string{rest.substr(0, rest.find('\r'))};
}

}  // namespace

etcd_peers::etcd_peers(std::vector<std::uint16_t> targets) {
    for (auto const target : targets) {
        auto& made = doors_.emplace_back(door{.socket = new_socket(), .target = target});
        auto here = loopback();
        socklen_t length = sizeof here;
        if (::bind(made.socket, raw(here), length) != 0 || ::listen(made.socket, 128) != 0 ||
            ::getsockname(made.socket, raw(here), &length) != 0)
            throw std::system_error{errno, std::generic_category(), "listen"};
        made.port = ntohs(here.sin_port);
    }
    thread_ = std::thread{[this] { serve(); }};
}

etcd_peers::~etcd_peers() {
    {
        std::lock_guard const guard{mutex_};
        stop_ = true;
    }
    thread_.join();
    for (auto const& each : connections_) {
        ::close(each.client);
        ::close(each.server);
    }
    for (auto const& each : doors_)
        ::close(each.socket);
}

void etcd_peers::cut_off(std::size_t member, std::string id) {
    std::lock_guard const guard{mutex_};
    island_ = island{member, std::move(id)};
}

void etcd_peers::heal() {
    std::lock_guard const guard{mutex_};
    island_.reset();
}

bool etcd_peers::is_cut(connection const& which) {
    std::lock_guard const guard{mutex_};
    return island_ && (which.target == island_->member || which.source == island_->id);
}

void etcd_peers::serve() {
    for (;;) {
        {
            std::lock_guard const guard{mutex_};
            if (stop_) return;
        }
        std::vector<pollfd> wanted;
        for (auto const& each : doors_)
            wanted.push_back({each.socket, POLLIN, 0});
        for (auto const& each : connections_) {
            wanted.push_back({each.client, POLLIN, 0});
            wanted.push_back({each.server, POLLIN, 0});
        }
        ::poll(wanted.data(), wanted.size(), turn);
        auto at = wanted.begin() + static_cast<std::ptrdiff_t>(doors_.size());
        connections_.remove_if([&](connection& each) {
            bool const asked = (at++)->revents != 0;
            bool const answered = (at++)->revents != 0;
            bool const goes_on =
                !is_cut(each) && (!asked || pass(each, true)) && (!answered || pass(each, false));
            if (goes_on) return false;
            ::close(each.client);
            ::close(each.server);
            return true;
        });
        for (std::size_t each = 0; each < doors_.size(); ++each)
            if (wanted[each].revents != 0) accept(each);
    }
}

void etcd_peers::accept(std::size_t at) {
    int const client = ::accept4(doors_[at].socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int const server = new_socket();
    auto there = loopback(doors_[at].target);
    if (::connect(server, raw(there), sizeof there) == 0)
        return static_cast<void>(connections_.push_back({client, server, at}));
    ::close(server);
    ::close(client);
}

bool etcd_peers::pass(connection& by, bool request) {
    std::array<char, 65536> buffer{};
    auto const count = ::recv(request ? by.client : by.server, buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    std::string_view const text{buffer.data(), static_cast<std::size_t>(count)};
    if (request && by.source.empty()) by.source = source_in(text);
    return !is_cut(by) && send_all(request ? by.server : by.client, text);
}

}  // namespace holdfast::support
