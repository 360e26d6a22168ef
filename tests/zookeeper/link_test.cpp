// One connection: how it ends, and what becomes of it when the system or the servers refuse.
#include <atomic>
#include <cstring>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/proxy.hpp"
#include "support/raw_server.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/driver_client.hpp"

namespace holdfast::zookeeper_tests {
namespace {

using namespace std::chrono_literals;
using driver_tests::expect;
using redis_faults::proxy;
namespace compare = stores::compare;

std::string url_by(std::uint16_t port, std::string const& user = {}) {
    return "zookeeper://" + user + "127.0.0.1:" + std::to_string(port) + "?timeout=1s&tick=200ms";
}

/// Of a server that is none: a session of 30 s.
void begin_session(support::raw_socket const& socket) {
    // The request comes in as many pieces as it likes, with its length in front, and nothing comes behind it.
    std::uint32_t length = 0;
    std::string heard;
    do {
        auto const more = socket.receive();
        if (more.empty()) return;
        heard += more;
        if (heard.size() >= sizeof length) std::memcpy(&length, heard.data(), sizeof length);
    } while (heard.size() < sizeof length + ntohl(length));
    std::string const greeting{"\0\0\0\x25\0\0\0\0\0\0\x75\x30\0\0\0\0\0\0\0\1\0\0\0\x10", 24};
    (void)socket.send(greeting + std::string(17, '\0'));
}

std::string url_of(support::raw_server const& server, std::string const& options,
                   std::string const& user = {}) {
    return "zookeeper://" + user + server.url(options).substr(std::string{"redis://"}.size());
}

void expect_denied(driver_tests::client& who) {
    auto const refused = expect<compare::rejected>(who.fetch({{{.key = {"q", false}}}}));
    EXPECT_EQ(refused.error.code, errc::access_denied) << refused.error.text;
}

bool alive(driver_tests::client& witness, compare::session_id id) {
    auto const seen = witness.look({.key = {"any", false}, .sessions = {id}});
    return !seen.sessions.empty() && seen.sessions.front().alive;
}

TEST(zookeeper_link, a_session_that_is_closed_is_gone_at_the_server_at_once) {
    support::zookeeper_server server;
    auto mine = client_of(server.url());
    auto other = client_of(server.url());
    for (std::uint64_t id = 1; id < 20; ++id) {
        (void)expect<compare::opened>(mine.open(compare::session_id{id}, 60s));
        // With a request under way, whose answer nobody reads.
        mine.driver().keep(mine.next_ticket(), {compare::session_id{id}});
        mine.driver().close(compare::session_id{id});
        mine.driver().drive({});
        EXPECT_TRUE(other.drive_until([&] { return !alive(other, compare::session_id{id}); }, 10s));
    }
}

TEST(zookeeper_link, closing_a_session_waits_for_nobody) {
    support::zookeeper_server server;
    proxy network{server.port(), 1};
    auto mine = client_of(url_by(network.port()));
    for (std::uint64_t id = 1; id < 4; ++id)
        (void)expect<compare::opened>(mine.open(compare::session_id{id}, 60s));
    network.stall(true);
    support::stopwatch const since;
    for (std::uint64_t id = 1; id < 4; ++id)
        mine.driver().close(compare::session_id{id});
    mine.driver().drive({});
    EXPECT_LT(since.elapsed(), 1s);
    mine.driver().shut();
    EXPECT_LT(since.elapsed(), 2s);
    network.stall(false);
}

TEST(zookeeper_link, when_descriptors_run_out_it_is_told_and_it_goes_on_when_there_are_some) {
    support::zookeeper_server server;
    auto mine = client_of(server.url());
    (void)expect<compare::opened>(mine.open(compare::session_id{1}, 60s));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t spare = 0; spare < 4; ++spare) {
        int const next = ::dup(0);
        ASSERT_GE(next, 0);
        ::close(next);
        rlimit const few{.rlim_cur = static_cast<rlim_t>(next) + spare,
                         .rlim_max = before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        auto const which = mine.next_ticket();
        mine.driver().open(which, compare::session_id{10 + spare}, 60s, "who I am");
        mine.driver().unwatch({"q", false});
        mine.drive_for(100ms);
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
        (void)expect<compare::opened>(mine.outcome_of(which));
    }
}

TEST(zookeeper_link, a_server_that_ends_every_session_is_asked_in_steps) {
    // As servers do that do not take the user: the session begins, and ends with the first request.
    std::atomic<int> connections{0};
    support::raw_server refusing{[&](support::raw_socket const& socket) {
        ++connections;
        begin_session(socket);
        // The answer to authentication: xid -4, and it failed.
        (void)socket.send(
            std::string{"\0\0\0\x10\xff\xff\xff\xfc\0\0\0\0\0\0\0\0\xff\xff\xff\x8d", 20});
        socket.listen();
    }};
    auto mine = client_of(url_of(refusing, "?timeout=1s", "anna:s3cret@"));
    expect_denied(mine);
    mine.drive_for(1s);
    EXPECT_LT(connections, 30);
}

TEST(zookeeper_link, a_server_that_forgets_to_answer_is_reminded_long_before_it_is_given_up) {
    std::atomic<int> requests{0};
    support::raw_server forgetful{[&](support::raw_socket const& socket) {
        begin_session(socket);
        // Each with its length in front, and in as many pieces as it likes.
        std::string heard;
        for (auto more = socket.receive(); !more.empty(); more = socket.receive()) {
            heard += more;
            while (heard.size() >= 4) {
                std::uint32_t length = 0;
                std::memcpy(&length, heard.data(), sizeof length);
                if (heard.size() < sizeof length + ntohl(length)) break;
                heard.erase(0, sizeof length + ntohl(length));
                ++requests;
            }
        }
    }};
    auto mine = client_of(url_of(forgetful, "?timeout=20s"));
    mine.driver().fetch(mine.next_ticket(), {{{.key = {"q", false}}}});
    EXPECT_TRUE(mine.drive_until([&] { return requests > 1; }, 10s));
    mine.drive_for(1s);
    EXPECT_EQ(requests, 2) << "once is enough";
    EXPECT_EQ(forgetful.connections(), 1);
}

// The library reads nothing any more then, and would not hear either that the connection has ended.
TEST(zookeeper_link, an_answer_of_a_length_that_nothing_has_costs_one_connection) {
    support::raw_server strange{[&](support::raw_socket const& socket) {
        begin_session(socket);
        (void)socket.receive();
        (void)socket.send("\xff\xff\xff\xf0 what is this?");
        socket.listen();
    }};
    auto mine = client_of(url_of(strange, "?timeout=500ms"));
    mine.driver().fetch(mine.next_ticket(), {{{.key = {"q", false}}}});
    EXPECT_TRUE(mine.drive_until([&] { return strange.connections() > 2; }, 10s))
        << strange.connections();
}

TEST(zookeeper_link, a_client_that_is_not_welcome_goes_on_asking_in_steps) {
    support::zookeeper_server server;
    auto anna = client_of(url_by(server.port(), "anna:s3cret@"));
    (void)expect<compare::views>(anna.fetch({{{.key = {"q", false}}}}));
    proxy network{server.port(), 1};
    auto bert = client_of(url_by(network.port(), "bert:s3cret@"));
    expect_denied(bert);
    auto const before = network.connections();
    EXPECT_TRUE(bert.drive_until([&] { return network.connections() > before + 1; }, 10s));
    bert.drive_for(1s);
    EXPECT_LT(network.connections(), before + 30);
}

compare::outcome write(driver_tests::client& by, compare::own_session const& who,
                       std::string const& name, std::size_t size) {
    compare::step what;
    what.self = who.id;
    what.of = who.current;
    what.key = {name, false};
    what.head = compare::head_write{};
    what.head->body = std::string(size, 'x');
    return by.commit(what);
}

TEST(zookeeper_link, what_no_server_would_take_is_refused_before_it_is_sent) {
    support::zookeeper_server server;
    proxy network{server.port(), 1};
    auto mine = client_of(url_by(network.port()));
    compare::own_session who{.id = compare::session_id{1}};
    who.current = expect<compare::opened>(mine.open(who.id, 60s)).current;
    (void)expect<compare::committed>(write(mine, who, "large", 1'000'000));
    EXPECT_EQ(mine.look({.key = {"large", false}}).body.size(), 1'000'000U);
    auto const before = network.connections();
    for (std::size_t const size : {1'040'000U, 1'048'600U, 3'000'000U}) {
        auto const refused = expect<compare::rejected>(write(mine, who, "larger", size));
        EXPECT_EQ(refused.error.code, errc::unsupported) << refused.error.text;
    }
    EXPECT_EQ(network.connections(), before);
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
