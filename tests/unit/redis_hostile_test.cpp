// Servers that are slow, silent or hostile: what they can do to a client, and for how long.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>

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
         {"-nonsense", "+OK\r\n+OK\r\n", "+OK\r\n:-1\r\n", "+OK\r\n*0\r\n",
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

/// Somebody has the wrong port, or something on the way answers for a server that is away.
TEST(redis_hostile, another_protocol_is_named) {
    for (auto const& [what, name] :
         {std::pair<std::string, std::string>{"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP"},
          {"<!DOCTYPE html>\n", "speaks HTTP"},
          {"\x15\x03\x03", "speaks TLS"}}) {
        raw_server const there{says(what)};
        peer mine{there.url("?timeout=500ms")};
        auto const error = error_of(mine.submit(mine.claim("q")));
        EXPECT_TRUE(error.is(errc::store_unavailable)) << what << ": " << error.text;
        EXPECT_NE(error.text.find(name), std::string::npos) << error.text;
    }
}

/// The channel of a subscription, as a text of the protocol.
std::string channel_in(std::string const& request) {
    auto const from = request.rfind("holdfast:client:");
    auto const channel = request.substr(from, request.find('\r', from) - from);
    return "$" + std::to_string(channel.size()) + "\r\n" + channel + "\r\n";
}

/// Of the connection's name, and of the subscription.
std::string acknowledgement(std::string const& channel) {
    return "+OK\r\n*3\r\n$9\r\nsubscribe\r\n" + channel + ":1\r\n";
}

/// Says the same over and over, as fast as it can, for longer than anybody may be kept by it.
void flood(raw_socket const& to, std::string_view what) {
    std::string many;
    while (many.size() < (1U << 16))
        many += what;
    support::stopwatch const since;
    while (since.elapsed() < 10s && to.send(many)) {}
}

TEST(redis_hostile, what_has_no_end_is_cut_off) {
    for (std::string const what : {"+", "-ERR ", ":1", "$1", "*1", "+OK\r\n*3\r\n:1\r\n+"}) {
        raw_server const there{[&](raw_socket const& to) {
            if (to.receive().empty() || !to.send(what)) return;
            flood(to, "7");
        }};
        peer mine{there.url("?timeout=15s")};
        support::stopwatch const since;
        auto const error = error_of(mine.submit(mine.claim("q")));
        EXPECT_TRUE(error.is(errc::store_unavailable)) << what << ": " << error.text;
        EXPECT_NE(error.text.find("does not speak as Redis does"), std::string::npos) << error.text;
        EXPECT_LT(since.elapsed(), 5s) << what;
    }
}

// Nobody else can send while the lock is held, and whoever drives wants to return in time.
TEST(redis_hostile, a_flood_of_messages_keeps_nobody) {
    std::atomic<bool> flooding{false};
    raw_server const there{[&](raw_socket const& to) {
        std::string got;
        while (got.find("SUBSCRIBE") == std::string::npos) {
            auto const more = to.receive();
            if (more.empty()) return;
            got += more;
        }
        to.send(acknowledgement(channel_in(got)));
        flooding = true;
        flood(to, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    }};
    peer mine{there.url("?timeout=15s")};
    mine.begin(seam::submit{{mine.claim("q")}, true, seam::store_time::max()});
    std::atomic<bool> stop{false};
    std::atomic<int> turns{0};
    std::thread driver{[&] {
        for (; !stop; ++turns)
            mine.store().drive(base::boot_clock::now() + 20ms);
    }};
    EXPECT_TRUE(support::eventually([&] { return flooding.load(); }));
    auto const before = turns.load();
    support::stopwatch const since;
    for (int i = 0; i < 20; ++i) {
        mine.begin(seam::hello{});
        (void)support::throughout(20ms, [] { return true; });
    }
    EXPECT_LT(since.elapsed(), 5s);
    EXPECT_TRUE(support::eventually([&] { return turns > before + 5; }, 5s));
    stop = true;
    driver.join();
}

TEST(redis_hostile, spans_of_ages_are_clamped) {
    raw_server const there{[](raw_socket const& to) {
        if (to.receive().empty() ||
            !to.send("+OK\r\n-ERR no SCRIPT\r\n-ERR no INFO\r\n-ERR no ROLE\r\n"))
            return;
        if (!to.receive().empty())
            to.send("-ERR no SCRIPT\r\n*3\r\n:1\r\n+queued\r\n:9007199254740992\r\n");
        (void)to.receive();
    }};
    peer mine{there.url("?timeout=15s")};
    auto const reply = mine.submit(mine.claim("q"), true);
    ASSERT_TRUE(is_queued(reply)) << error_of(reply).text;
    auto const span = std::get<seam::queued>(reply.body).blocked_for;
    EXPECT_GT(span, 24h);
    EXPECT_LE(span, 24h * 365 * 100);
}

std::ptrdiff_t lines_of(std::string const& log) { return std::ranges::count(log, '\n'); }

/// Acknowledges each subscription, says something more, and closes unless it is good.
void expect_calm(std::string const& more, int most_connections) {
    std::atomic<bool> good{false};
    raw_server const there{[&](raw_socket const& to) {
        auto const got = to.receive();
        if (got.find("SUBSCRIBE") == std::string::npos) return to.listen();
        auto const channel = channel_in(got);
        to.send(acknowledgement(channel));
        if (!more.empty()) to.send("*3\r\n$7\r\nmessage\r\n" + channel + more);
        if (good) to.listen();
    }};
    peer mine{there.url("?timeout=15s")};
    mine.begin(seam::submit{{mine.claim("q")}, true, seam::store_time::max()});
    drive(mine, 3s);
    EXPECT_GT(there.connections(), 3) << "it is tried again";
    EXPECT_LT(there.connections(), most_connections) << "with pauses";
    EXPECT_GE(lines_of(mine.log()), 1);
    EXPECT_LE(lines_of(mine.log()), 2) << mine.log();
    good = true;
    drive(mine, 2s);
    auto const connections = there.connections();
    drive(mine, 1s);
    EXPECT_EQ(there.connections(), connections) << "it stays where it works";
}

TEST(redis_hostile, a_server_that_acknowledges_and_closes_is_not_stormed) { expect_calm("", 40); }

TEST(redis_hostile, nor_is_one_that_tells_something_first) {
    expect_calm("$14\r\nnothing of use\r\n", 200);
}

TEST(redis_hostile, a_server_that_closes_at_each_command_fills_no_log) {
    raw_server const there{[](raw_socket const& to) { (void)to.receive(); }};
    peer mine{there.url("?timeout=15s")};
    auto const end = base::boot_clock::now() + 3s;
    int asked = 0;
    for (; base::boot_clock::now() < end; ++asked)
        EXPECT_TRUE(error_of(mine.send(seam::hello{})).is(errc::store_unavailable));
    EXPECT_LT(there.connections(), 40);
    EXPECT_LE(lines_of(mine.log()), 2) << mine.log();
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
        if (to.send("+OK\r\n-ERR no SCRIPT\r\n-ERR no INFO\r\n-ERR no ROLE\r\n+"))
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
