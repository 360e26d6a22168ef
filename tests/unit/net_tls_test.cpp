// TLS over a socket whose other side is gone.
#include <csignal>

#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "net/tls.hpp"

namespace holdfast::net {
namespace {

TEST(net_tls, a_peer_that_is_gone_is_an_error_and_no_signal) {
    std::signal(SIGPIPE, SIG_DFL);
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ::close(ends[1]);
    tls_settings how;
    how.on = true;
    how.insecure = true;
    {
        tls_session session{how, "localhost", ends[0]};
        EXPECT_NE(session.shake_hands().trouble, "");
    }
    ::close(ends[0]);
}

}  // namespace
}  // namespace holdfast::net
