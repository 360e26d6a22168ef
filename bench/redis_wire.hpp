// The raw limit of the Redis rows: a blocking socket, and the bytes that the store itself would send.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stores/redis/command.hpp"

namespace bench {

/// A blocking connection that reads answers no further than to find their end.
class wire {
public:
    /// `url` is redis://127.0.0.1:PORT.
    explicit wire(std::string const& url) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port =
            htons(static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1)));
        auto const* const raw = static_cast<sockaddr const*>(static_cast<void const*>(&to));
        int const on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        require(::connect(socket_, raw, sizeof to) == 0, "no connection to the server");
    }
    ~wire() { ::close(socket_); }
    wire(wire const&) = delete;
    wire& operator=(wire const&) = delete;

    void send(std::string_view bytes) const {
        while (!bytes.empty()) {
            auto const put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            require(put > 0, "the server does not read");
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
    }

    /// The bytes of the next answer, valid until the next call. Throws on an error of the server.
    std::string_view answer() {
        for (;;) {
            if (auto const end = skip(begin_); end != incomplete) {
                auto const out = std::string_view{buffer_}.substr(begin_, end - begin_);
                begin_ = end;
                require(out.front() != '-', std::string{out});
                return out;
            }
            fill();
        }
    }

    std::string_view ask(holdfast::stores::redis::command what) {
        send(what.bytes());
        return answer();
    }

    /// Makes the server know the script, and tells the hash by which it does.
    std::string load(holdfast::stores::redis::script const& unknown) {
        holdfast::stores::redis::command text{"SCRIPT"};
        text << "LOAD" << unknown.text;
        std::string const answer{ask(std::move(text))};
        constexpr std::size_t head = 5;  // "$40" and the end of the line
        return answer.substr(head, answer.size() - head - 2);
    }

private:
    static constexpr std::size_t incomplete = std::string::npos;

    static void require(bool met, std::string const& what) {
        if (!met) throw std::runtime_error{what};
    }

    void fill() {
        buffer_.erase(0, begin_);
        begin_ = 0;
        char more[64 << 10];
        auto const got = ::recv(socket_, more, sizeof more, 0);
        require(got > 0, "the server says nothing");
        buffer_.append(more, static_cast<std::size_t>(got));
    }

    /// The end of the answer that begins at `at`.
    [[nodiscard]] std::size_t skip(std::size_t at) const {
        auto const line_end = buffer_.find("\r\n", at);
        if (line_end == std::string::npos) return incomplete;
        auto end = line_end + 2;
        auto const count = std::strtol(buffer_.c_str() + at + 1, nullptr, 10);
        if (buffer_[at] == '$' && count >= 0) end += static_cast<std::size_t>(count) + 2;
        if (buffer_[at] == '*')
            for (long i = 0; i < count && end != incomplete; ++i)
                end = skip(end);
        return end > buffer_.size() ? incomplete : end;
    }

    int socket_;
    std::string buffer_;
    std::size_t begin_{0};
};

}  // namespace bench
