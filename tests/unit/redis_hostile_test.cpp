// Servers that are slow, silent or hostile: what they can do to a client, and for how long.
#include <atomic>

#include "support/eventually.hpp"
#include "support/raw_server.hpp"
#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

using support::raw_server;
using support::raw_socket;

/// Drives a peer for as long.
void drive(peer& whom, std::chrono::milliseconds span) {
    auto const end = base::boot_clock::now() + span;
    while (base::boot_clock::now() < end)
        whom.store().drive(end);
}

/// Says one thing to whoever asks, and nothing more.
raw_server::conduct says(std::string what) {
    return [what = std::move(what)](raw_socket const& to) {
        if (!to.receive().empty()) to.send(what);
        (void)to.receive();
    };
}

TEST(redis_hostile, nonsense_ends_the_connection_and_nothing_else) {
    for (std::string const what :
         {"HTTP/1.1 400 Bad Request\r\n\r\n", "+OK\r\n+OK\r\n", "+OK\r\n:-1\r\n", "+OK\r\n*0\r\n",
          "+OK\r\n*2\r\n:1\r\n+granted\r\n", "+OK\r\n*3\r\n:-1\r\n+granted\r\n:1\r\n",
          "+OK\r\n*5\r\n:1\r\n+granted\r\n$30\r\n999999999999999999999999999999\r\n:1\r\n:0\r\n",
          "+OK\r\n*2000000000\r\n", "+OK\r\n*2\r\n:1\r\n+nonsense\r\n",
          "+OK\r\n*6\r\n:1\r\n+refused\r\n+busy\r\n:1\r\n:99\r\n:0\r\n", ""}) {
        raw_server const there{says(what)};
        peer mine{there.url("?timeout=500ms")};
        auto const error = error_of(mine.submit(mine.claim("q")));
        EXPECT_TRUE(error.is(errc::store_unavailable)) << what << ": " << error.text;
    }
}

/// A renewal that goes by a connection on which nothing comes within 100 ms.
class redis_silence : public testing::Test {
protected:
    seam::request_id renew() { return mine_.begin(seam::renew{{{held_, 600ms}}, 100ms}); }

    void expect_cut(seam::request_id id) {
        auto const error = error_of(mine_.await(id));
        EXPECT_TRUE(error.is(errc::store_unavailable)) << error.text;
        EXPECT_NE(error.text.find("silent"), std::string::npos) << error.text;
    }

    std::atomic<bool> trickles_{true};
    raw_server there_{[this](raw_socket const& to) {
        if (to.number() > 0) return to.listen();
        if (to.send("+"))
            while (to.rest(10ms))
                if (trickles_ && !to.send("x")) return;
    }};
    peer mine_{there_.url("?timeout=15s")};
    seam::claim held_{mine_.claim("q")};
};

TEST_F(redis_silence, a_slow_server_is_not_left) {
    auto const first = renew();
    drive(mine_, 400ms);
    auto const second = renew();
    drive(mine_, 100ms);
    EXPECT_EQ(there_.connections(), 1);
    EXPECT_FALSE(mine_.answered(first) || mine_.answered(second));
}

TEST_F(redis_silence, a_dead_connection_is_left_and_a_silent_server_is_not_stormed) {
    auto const first = renew();
    drive(mine_, 100ms);
    trickles_ = false;
    drive(mine_, 100ms);
    auto const second = renew();  // what came since the first says nothing for it
    drive(mine_, 300ms);
    EXPECT_EQ(there_.connections(), 1);
    auto const third = renew();
    expect_cut(first);
    expect_cut(second);
    EXPECT_TRUE(support::eventually([&] {
        drive(mine_, 10ms);
        return there_.connections() == 2;
    })) << "a fresh one is opened at once";
    for (int i = 0; i < 4; ++i) {
        drive(mine_, 200ms);
        renew();
    }
    EXPECT_EQ(there_.connections(), 2) << "who never said a word may only be slow";
    EXPECT_FALSE(mine_.answered(third));
}

}  // namespace
}  // namespace holdfast::test
