// Streams to servers of this process: how they connect, what they ask of the poller, how they end.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "net/stream.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using base::boot_clock;

constexpr poller::tag about = 3;

/// Listens on 127.0.0.1, on a port of the system's choice.
class server {
public:
    server() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const raw = static_cast<sockaddr*>(static_cast<void*>(&here));
        EXPECT_EQ(::bind(socket_.get(), raw, sizeof here), 0);
        EXPECT_EQ(::listen(socket_.get(), 8), 0);
        socklen_t length = sizeof here;
        EXPECT_EQ(::getsockname(socket_.get(), raw, &length), 0);
        port_ = ntohs(here.sin_port);
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] base::descriptor accept() const {
        return base::descriptor{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    }
    void stop() { socket_.reset(); }

private:
    base::descriptor socket_;
    std::uint16_t port_{0};
};

class net_stream : public ::testing::Test {
protected:
    /// Waits for what the stream wants until `done`.
    template <class Done>
    void drive(Done done) {
        auto const end = boot_clock::now() + 10s;
        while (!done()) {
            ASSERT_LT(boot_clock::now(), end);
            for (auto const& each : events_.wait(end))
                ASSERT_EQ(each.about, about);
        }
    }
    void open(stream& what) {
        drive([&] {
            what.advance();
            return what.is_open();
        });
    }
    std::string read(stream& from, std::size_t count) {
        std::string out(count, '\0');
        std::size_t got = 0;
        drive([&] {
            got += from.read(std::span{out}.subspan(got));
            return got == count;
        });
        return out;
    }

    poller events_;
};

TEST_F(net_stream, carries_bytes_both_ways_and_sees_the_end) {
    server const to;
    endpoint const where{.host = "127.0.0.1", .port = to.port()};
    stream one{events_, about, where};
    open(one);
    auto peer = to.accept();
    EXPECT_EQ(one.write("hello"), 5U);
    char there[8]{};
    EXPECT_EQ(::recv(peer.get(), there, 5, MSG_WAITALL), 5);
    EXPECT_STREQ(there, "hello");
    std::string nothing(8, '\0');
    EXPECT_EQ(one.read(nothing), 0U);
    EXPECT_FALSE(one.is_readable());
    EXPECT_EQ(::send(peer.get(), "world", 5, MSG_NOSIGNAL), 5);
    EXPECT_EQ(read(one, 5), "world");
    peer.reset();
    EXPECT_THROW((void)read(one, 1), broken);
}

TEST_F(net_stream, goes_on_to_the_next_address_when_the_first_refuses) {
    // A name with two numbers, of which the server has the second.
    server const to;
    endpoint const where{.host = "localhost", .port = to.port()};
    stream one{events_, about, where};
    open(one);
    EXPECT_TRUE(to.accept());
}

TEST_F(net_stream, tells_why_nobody_can_be_reached) {
    server to;
    endpoint const where{.host = "127.0.0.1", .port = to.port()};
    to.stop();
    try {
        stream one{events_, about, where};
        open(one);
        FAIL() << "nobody listens there";
    } catch (broken const& why) {
        EXPECT_STREQ(why.what(), std::strerror(ECONNREFUSED));
    }
    endpoint const unknown{.host = "nobody.invalid", .port = 1};
    try {
        stream one{events_, about, unknown};
        open(one);
        FAIL() << "no host can have that name";
    } catch (broken const& why) {
        EXPECT_NE(std::string{why.what()}.find("'nobody.invalid' is not known"), std::string::npos)
            << why.what();
    }
}

TEST_F(net_stream, goes_on_when_there_is_room_again) {
    server const to;
    endpoint const where{.host = "127.0.0.1", .port = to.port()};
    stream one{events_, about, where};
    open(one);
    auto const peer = to.accept();
    std::string const much(1 << 20, 'x');
    std::size_t written = 0;
    std::size_t last = 0;
    while ((last = one.write(much)) > 0)
        written += last;
    EXPECT_TRUE(events_.wait(boot_clock::now()).empty()) << "there is no room";
    std::string into(1 << 20, '\0');
    while (written > 0)
        written -= static_cast<std::size_t>(::recv(peer.get(), into.data(), into.size(), 0));
    std::size_t more = 0;
    drive([&] {
        more = one.write("y");
        return more == 1;
    });
    EXPECT_TRUE(events_.wait(boot_clock::now()).empty()) << "room is not looked for any more";
}

TEST_F(net_stream, connects_to_a_unix_socket) {
    auto folder = (std::filesystem::temp_directory_path() / "holdfast-net-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    auto const path = folder + "/socket";
    base::descriptor const listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un here{};
    here.sun_family = AF_UNIX;
    std::memcpy(here.sun_path, path.c_str(), path.size());
    EXPECT_EQ(
        ::bind(listening.get(), static_cast<sockaddr*>(static_cast<void*>(&here)), sizeof here), 0);
    EXPECT_EQ(::listen(listening.get(), 1), 0);
    endpoint const where{.socket_path = path};
    {
        stream one{events_, about, where};
        open(one);
        EXPECT_EQ(one.write("x"), 1U);
    }
    EXPECT_TRUE(events_.wait(boot_clock::now()).empty()) << "what is gone is not watched";
    ::unlink(path.c_str());
    endpoint const nowhere{.socket_path = path};
    EXPECT_THROW((stream{events_, about, nowhere}), broken);
    ::rmdir(folder.c_str());
}

TEST_F(net_stream, a_server_without_tls_is_named_as_such) {
    server const to;
    endpoint const where{
        .host = "127.0.0.1", .port = to.port(), .tls = {.on = true, .insecure = true}};
    stream one{events_, about, where};
    auto const peer = to.accept();
    EXPECT_EQ(::send(peer.get(), "-ERR\r\n", 6, MSG_NOSIGNAL), 6);
    try {
        open(one);
        FAIL() << "that was no TLS";
    } catch (broken const& why) {
        EXPECT_NE(std::string{why.what()}.find("if the server has no TLS on this port"),
                  std::string::npos)
            << why.what();
    }
}

}  // namespace
}  // namespace holdfast::net
