// What URLs ask for, and what they may not.
#include "stores/zookeeper/settings.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "support/failure.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::stores::zookeeper {

namespace {

settings parse(std::string const& url) { return settings::parse(base::url::parse(url)); }
std::string words_for(std::string const& url) {
    return support::words_of([&] { return parse(url); });
}
std::error_code failure_for(std::string const& url) {
    return support::failure_of([&] { return parse(url); });
}

TEST(zookeeper_settings, servers_have_a_port_of_their_own_or_the_usual_one) {
    auto const found = parse("zookeeper://a,b:1234,[::1]:9");
    EXPECT_EQ(found.hosts, "a:2181,b:1234,[::1]:9");
    EXPECT_EQ(found.shown(), "zookeeper://a:2181,b:1234,[::1]:9");
    EXPECT_EQ(found.root, "/holdfast");
    EXPECT_FALSE(found.private_nodes);
    EXPECT_EQ(found.timeout, std::chrono::seconds{3});
    EXPECT_EQ(found.tick, std::chrono::seconds{2});
}

TEST(zookeeper_settings, options_are_taken) {
    auto const found =
        parse("zookeeper://anna:word@a/apps/locks/?timeout=250ms&tick=500ms&lease=5s");
    EXPECT_EQ(found.root, "/apps/locks");
    EXPECT_EQ(found.user, "anna");
    EXPECT_EQ(found.password, "word");
    EXPECT_TRUE(found.private_nodes);
    EXPECT_EQ(found.timeout, std::chrono::milliseconds{250});
    EXPECT_EQ(found.tick, std::chrono::milliseconds{500});
    EXPECT_FALSE(parse("zookeeper://anna:word@a?acl=open").private_nodes);
}

TEST(zookeeper_settings, what_cannot_be_meant_is_refused) {
    for (auto const* const url :
         {"zookeeper:", "zookeeper://a?tick=0s", "zookeeper://a?timeout=0s",
          "zookeeper://a?acl=all", "zookeeper://a?acl=creator", "zookeeper://a/x//y",
          "zookeeper://a/x/../y", "zookeeper://a/zookeeper", "zookeeper://a/zookeeper/x",
          "zookeeper://anna@a", "zookeeper://a?tik=1s", "zookeeper://an%3Ana:word@a"})
        EXPECT_EQ(failure_for(url), errc::bad_url) << url;
}

TEST(zookeeper_settings, tls_is_unsupported_in_plain_words) {
    for (auto const* const option : {"ca=x", "cert=x", "key=x", "servername=x"}) {
        auto const url = std::string{"zookeeper://a?"} + option;
        EXPECT_EQ(failure_for(url), errc::unsupported);
        EXPECT_NE(words_for(url).find("TLS"), std::string::npos);
    }
}

TEST(zookeeper_settings, a_password_comes_from_a_file_or_the_environment_and_is_not_repeated) {
    support::temporary_directory const place;
    auto const file = (place.path() / "password").string();
    EXPECT_EQ(failure_for("zookeeper://anna@a?passwordfile=" + file), errc::bad_url);
    std::ofstream{file} << "s3cret\n";
    EXPECT_EQ(parse("zookeeper://anna@a?passwordfile=" + file).password, "s3cret");
    EXPECT_EQ(failure_for("zookeeper://anna:s3cret@a?passwordfile=" + file), errc::bad_url);
    EXPECT_EQ(words_for("zookeeper://:s3cret@a").find("s3cret"), std::string::npos);
    ::setenv("HOLDFAST_ZOOKEEPER_PASSWORD", "from outside", 1);
    EXPECT_EQ(parse("zookeeper://anna@a").password, "from outside");
    EXPECT_EQ(parse("zookeeper://a").password, "");
    ::unsetenv("HOLDFAST_ZOOKEEPER_PASSWORD");
}

}  // namespace

}  // namespace holdfast::stores::zookeeper
