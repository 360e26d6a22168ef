#include "support/proxy.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/loopback.hpp"

namespace holdfast::redis_faults {

using support::loopback;
using support::raw;

namespace {

constexpr int turn = 5;  // milliseconds: how soon a late reply or the end is noticed

int new_socket() {
    int const out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out < 0) throw std::system_error{errno, std::generic_category(), "socket"};
    int const yes = 1;
    ::setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return out;
}

/// What is there now; empty at the end.
std::string receive(int from) {
    std::string out(65536, '\0');
    auto const count = ::recv(from, out.data(), out.size(), 0);
    out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return out;
}

void send_all(int to, std::string_view text) {
    while (!text.empty()) {
        auto const count = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace

proxy::proxy(std::uint16_t target, std::uint64_t seed, odds chances, onlooker who)
    : target_{target},
      seed_{seed},
      who_{std::move(who)},
      odds_{chances},
      socket_{new_socket()},
      wanted_{chances} {
    auto here = loopback();
    socklen_t length = sizeof here;
    if (::bind(socket_, raw(here), length) != 0 || ::listen(socket_, 128) != 0 ||
        ::getsockname(socket_, raw(here), &length) != 0)
        throw std::system_error{errno, std::generic_category(), "listen"};
    port_ = ntohs(here.sin_port);
    thread_ = std::thread{[this] { serve(); }};
}

proxy::~proxy() {
    stop_ = true;
    thread_.join();
    for (auto& it : pairs_)
        end(it);
    ::close(socket_);
}

void proxy::be_bad(odds chances) {
    std::lock_guard const guard{mutex_};
    wanted_ = chances;
    good_ = false;
}

void proxy::shut_out(std::string word) {
    std::lock_guard const guard{mutex_};
    wanted_outside_.push_back(std::move(word));
}

void proxy::let_all_in() {
    std::lock_guard const guard{mutex_};
    wanted_outside_.clear();
}

void proxy::hold_back(std::string mark) {
    std::lock_guard const guard{mutex_};
    wanted_mark_ = std::move(mark);
}

void proxy::take_wishes() {
    std::lock_guard const guard{mutex_};
    odds_ = wanted_;
    mark_ = wanted_mark_;
    outside_ = wanted_outside_;
}

bool proxy::is_shut_out(pair& it) const {
    bool const now = std::ranges::any_of(outside_, [&](std::string const& word) {
        return it.first_words.find(word) != std::string::npos;
    });
    it.shut_out = it.shut_out || now;
    return now;
}

void proxy::serve() {
    while (!stop_) {
        take_wishes();
        if (stalled_) {
            ::poll(nullptr, 0, turn);
            continue;
        }
        std::vector<pollfd> wanted{{socket_, POLLIN, 0}};
        for (auto const& it : pairs_) {
            wanted.push_back({it.client, POLLIN, 0});
            wanted.push_back({is_held_back(it) ? -1 : it.server, POLLIN, 0});
        }
        ::poll(wanted.data(), wanted.size(), turn);
        auto at = wanted.begin() + 1;
        for (auto& it : pairs_) {
            bool const asked = (at++)->revents != 0;
            bool const answered = (at++)->revents != 0;
            on_time(it);
            if (it.number < left_) it.over = true;
            if (asked && !it.over) on_request(it);
            if (answered && !it.over) on_reply(it);
            if (it.over) end(it);
        }
        pairs_.remove_if([](pair const& it) { return it.over; });
        if (wanted.front().revents != 0) accept();
    }
}

int proxy::dial() const {
    int const out = new_socket();
    auto there = loopback(target_);
    if (::connect(out, raw(there), sizeof there) == 0) return out;
    ::close(out);
    return -1;
}

void proxy::accept() {
    int const client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    int const server = dial();
    if (server < 0) {
        ::close(client);
        return;
    }
    int const number = connections_++;
    auto const seed = seed_ * 1'000'003 + static_cast<std::uint64_t>(number);
    pairs_.push_back({client, server, number, std::mt19937_64{seed}});
    repeat();
}

// As a network may that delivered something late: the server takes it, nobody hears the answer.
void proxy::repeat() {
    if (under_way_.empty()) return;
    if (int const server = dial(); server >= 0) {
        send_all(server, std::exchange(under_way_, {}));
        ::shutdown(server, SHUT_WR);
        while (!receive(server).empty()) {}
        ::close(server);
        ++repeats_;
    }
}

void proxy::end(pair& it) {
    if (it.client < 0) return;
    ::close(std::exchange(it.client, -1));
    ::close(std::exchange(it.server, -1));
    if (odds_.repeat && !good_) under_way_ = it.request;
}

bool proxy::happens(pair& it, int odds) {
    if (odds == 0 || good_ || it.random() % static_cast<unsigned>(odds) != 0) return false;
    ++faults_;
    return true;
}

void proxy::on_request(pair& it) {
    constexpr std::size_t login = 4096;
    auto text = receive(it.client);
    it.over = text.empty();
    if (it.first_words.size() < login) it.first_words += text;
    if (it.over || it.silent || is_swallowed(it) || is_shut_out(it)) return;
    if (is_held_back(it)) {
        it.early += text;
        return;
    }
    if (who_.on_request) who_.on_request(it.number, text);
    it.request = text;
    it.asks = true;
    it.over = happens(it, odds_.lose_request);
    if (!it.over) send_all(it.server, text);
}

void proxy::on_reply(pair& it) {
    auto const text = receive(it.server);
    if (std::exchange(it.asks, false)) ++round_trips_;
    if (who_.on_reply) who_.on_reply(it.number, text);
    if (is_swallowed(it) || is_shut_out(it)) {
        it.over = text.empty();
        return;
    }
    it.over = text.empty() || happens(it, odds_.lose_reply);
    if (it.over || it.silent) return;
    // What is late goes in front of what came later: no connection reorders its bytes.
    if (happens(it, odds_.cut_reply)) {
        auto const part = it.random() % text.size();
        send_all(it.client, std::exchange(it.late, {}) + text.substr(0, part));
        it.over = true;
    } else if (happens(it, odds_.garble)) {
        send_all(it.client, std::exchange(it.late, {}) + "HTTP/1.1 400 Bad Request\r\n\r\n");
    } else if (happens(it, odds_.silence)) {
        it.silent = true;
    } else if (!it.late.empty() || happens(it, odds_.delay)) {
        auto const most = static_cast<std::uint64_t>(odds_.longest_delay.count());
        if (it.late.empty())
            it.due = clock::now() + std::chrono::milliseconds{it.random() % (most + 1)};
        it.late += text;
    } else {
        send_all(it.client, text);
    }
}

void proxy::on_time(pair& it) {
    if (!it.early.empty() && !is_held_back(it)) send_all(it.server, std::exchange(it.early, {}));
    if (it.silent && good_) it.over = true;
    if (it.shut_out && !is_shut_out(it)) it.over = true;
    if (it.late.empty() || clock::now() < it.due) return;
    send_all(it.client, std::exchange(it.late, {}));
}

}  // namespace holdfast::redis_faults
