// Who may use the store, and servers that cannot be reached.
#include "zookeeper/faults.hpp"

namespace holdfast::zookeeper_tests {
namespace {

std::string with_user(std::string url, std::string const& user) {
    return url.insert(url.find("//") + 2, user + "@");
}

TEST(access_test, nodes_of_a_user_belong_to_that_user) {
    support::zookeeper_server server;
    client anna{with_user(server.url(), "anna:s3cret")};
    auto const held = mutex{anna, "q"}.acquire();
    for (auto const& url : {server.url(), with_user(server.url(), "anna:wrong"),
                            with_user(server.url(), "bert:s3cret")}) {
        client other{url, {.patience = 1s}};
        auto const words = support::words_of([&] { return mutex{other, "q"}.try_acquire(); });
        EXPECT_EQ(failure_of([&] {
                      return mutex{other, "q"}.try_acquire();
                  }),
                  errc::access_denied)
            << words;
        EXPECT_EQ(words.find("s3cret"), std::string::npos);
        EXPECT_EQ(words.find("wrong"), std::string::npos);
    }
    client again{with_user(server.url(), "anna:s3cret")};
    EXPECT_FALSE(mutex(again, "q").try_acquire());
    EXPECT_TRUE(mutex(again, "r").try_acquire());
}

TEST(access_test, with_open_nodes_a_user_shares_them_with_everybody) {
    support::zookeeper_server server;
    client anna{with_user(server.url(), "anna:s3cret") + "&acl=open"};
    client other{server.url()};
    auto const held = mutex{anna, "q"}.acquire();
    EXPECT_FALSE(mutex(other, "q").try_acquire());
    EXPECT_TRUE(mutex(other, "r").try_acquire());
}

TEST(access_test, servers_that_are_waited_for_in_vain_are_named) {
    client lonely{"zookeeper://127.0.0.1:1?timeout=1h", {.patience = 500ms}};
    auto const words = support::words_of([&] { return mutex{lonely, "q"}.try_acquire(); });
    EXPECT_NE(words.find("zookeeper://127.0.0.1:1"), std::string::npos) << words;
}

TEST(access_test, servers_that_are_not_there_are_told_as_that) {
    for (auto const* const url : {"zookeeper://127.0.0.1:1?timeout=300ms",
                                  "zookeeper://no-such-host.invalid?timeout=300ms"}) {
        client lonely{url, {.patience = 500ms}};
        EXPECT_EQ(failure_of([&] {
                      return mutex{lonely, "q"}.try_acquire();
                  }),
                  errc::store_unavailable);
    }
}

}  // namespace
}  // namespace holdfast::zookeeper_tests
