#include "support/zookeeper_links.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/loopback.hpp"

namespace holdfast::support {

namespace {

int new_socket() {
    int const out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out < 0) throw std::system_error{errno, std::generic_category(), "socket"};
    return out;
}

constexpr int turn_length = 10;  ///< milliseconds
constexpr int most_tries = 300;  ///< one in a turn

}  // namespace

zookeeper_links::zookeeper_links(std::vector<std::uint16_t> targets)
    : targets_{std::move(targets)} {
    for (std::size_t from = 0; from < targets_.size(); ++from)
        for (std::size_t to = 0; to < targets_.size(); ++to) {
            if (from == to) continue;
            auto here = loopback();
            socklen_t size = sizeof here;
            auto* const raw = static_cast<sockaddr*>(static_cast<void*>(&here));
            int const socket = new_socket();
            if (::bind(socket, raw, size) != 0 || ::listen(socket, 16) != 0 ||
                ::getsockname(socket, raw, &size) != 0)
                throw std::system_error{errno, std::generic_category(), "listen"};
            doors_.push_back({socket, ntohs(here.sin_port), from, to});
        }
    thread_ = std::thread{[this] { serve(); }};
}

zookeeper_links::~zookeeper_links() {
    {
        std::lock_guard const guard{mutex_};
        stop_ = true;
    }
    thread_.join();
    for (auto const& each : doors_)
        ::close(each.socket);
    for (auto const& each : connections_) {
        ::close(each.client);
        ::close(each.server);
    }
}

std::uint16_t zookeeper_links::port(std::size_t from, std::size_t to) const {
    auto const found = std::ranges::find_if(
        doors_, [&](door const& each) { return each.from == from && each.to == to; });
    if (found == doors_.end()) throw std::out_of_range{"no such link"};
    return found->port;
}

void zookeeper_links::cut(std::size_t from, std::size_t to) {
    std::lock_guard const guard{mutex_};
    cut_.emplace(from, to);
}

void zookeeper_links::heal() {
    std::lock_guard const guard{mutex_};
    cut_.clear();
}

void zookeeper_links::accept(door const& at) {
    int const client = ::accept4(at.socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) connections_.push_back({.client = client, .link = {at.from, at.to}});
}

// A leader may not listen yet. Its follower would try again where it is refused, but goes back to an election where
// it is let in and left, and then the leader waits for it until its own time is over.
bool zookeeper_links::reach(connection& which) {
    if (which.server >= 0) return true;
    int const server = new_socket();
    auto const there = loopback(targets_[which.link.second]);
    if (::connect(server, raw(there), sizeof there) == 0)
        which.server = server;
    else
        ::close(server);
    return which.server >= 0 || ++which.tries < most_tries;
}

bool zookeeper_links::pass(int from, int to) {
    std::array<char, 65536> buffer{};
    auto const got = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    for (ssize_t sent = 0, more = 0; sent < got; sent += more)
        if ((more = ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent),
                           MSG_NOSIGNAL)) <= 0)
            return false;
    return got > 0;
}

void zookeeper_links::serve() {
    for (;;) {
        std::set<std::pair<std::size_t, std::size_t>> cut;
        {
            std::lock_guard const guard{mutex_};
            if (stop_) return;
            cut = cut_;
        }
        std::vector<pollfd> wanted;
        for (auto const& each : doors_)
            wanted.push_back({each.socket, POLLIN, 0});
        for (auto each = connections_.begin(); each != connections_.end();) {
            bool const silent = cut.contains(each->link);
            each->silenced = each->silenced || silent;
            if ((each->silenced && !silent) || !(silent || reach(*each))) {
                ::close(each->client);
                ::close(each->server);
                each = connections_.erase(each);
                continue;
            }
            wanted.push_back({silent || each->server < 0 ? -1 : each->client, POLLIN, 0});
            wanted.push_back({silent ? -1 : each->server, POLLIN, 0});
            ++each;
        }
        ::poll(wanted.data(), wanted.size(), turn_length);
        auto next = wanted.begin() + static_cast<std::ptrdiff_t>(doors_.size());
        for (auto each = connections_.begin(); each != connections_.end();) {
            bool const asks = (next++)->revents != 0;
            bool const answers = (next++)->revents != 0;
            bool const over = (asks && !pass(each->client, each->server)) ||
                              (answers && !pass(each->server, each->client));
            if (over) {
                ::close(each->client);
                ::close(each->server);
            }
            each = over ? connections_.erase(each) : std::next(each);
        }
        for (std::size_t each = 0; each < doors_.size(); ++each)
            if (wanted[each].revents != 0) accept(doors_[each]);
    }
}

}  // namespace holdfast::support
