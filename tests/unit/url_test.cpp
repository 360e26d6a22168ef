#include "base/url.hpp"

#include <array>
#include <system_error>

#include <gtest/gtest.h>

#include <holdfast/error.hpp>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

std::string refused(std::string_view text) {
    try {
        (void)url::parse(text);
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), make_error_code(errc::bad_url));
        return error.what();
    }
    ADD_FAILURE() << text << " was taken";
    return {};
}

TEST(url, without_authority) {
    auto const memory = url::parse("memory:");
    EXPECT_EQ(memory.scheme, "memory");
    EXPECT_TRUE(memory.path.empty());
    EXPECT_FALSE(memory.has_authority);
    EXPECT_EQ(url::parse("memory:one").path, "one");
    EXPECT_EQ(url::parse("Memory:One").scheme, "memory") << "capitals mean the same";
    EXPECT_EQ(url::parse("redis-sentinel://h").scheme, "redis-sentinel")
        << "to be told the right one";
    EXPECT_EQ(url::parse("file:/var/lib/x.db").path, "/var/lib/x.db");
    EXPECT_EQ(url::parse("file:///var/x").path, "///var/x") << "a file is never on a host";
    EXPECT_EQ(url::parse("file:a%20b").path, "a b");
}

TEST(url, hosts_ports_and_login) {
    auto const it =
        url::parse("redis+sentinel://me:p%40ss@h1:7000,[::1]:7001,h3/master/2?a=1&b=x%26y");
    EXPECT_EQ(it.scheme, "redis+sentinel");
    EXPECT_EQ(it.user, "me");
    EXPECT_EQ(it.password, "p@ss");
    ASSERT_EQ(it.hosts.size(), 3U);
    EXPECT_EQ(it.hosts[0].host, "h1");
    EXPECT_EQ(it.hosts[0].port, 7000);
    EXPECT_EQ(it.hosts[1].host, "::1");
    EXPECT_EQ(it.hosts[1].port, 7001);
    EXPECT_EQ(it.hosts[2].port, 0);
    EXPECT_EQ(it.path, "/master/2");
    EXPECT_EQ(it.options.at("b"), "x&y");
}

TEST(url, what_is_none) {
    for (auto const* const text : {"",
                                   "memory",
                                   ":",
                                   "2memory:",
                                   "re dis://h",
                                   "redis://",
                                   "redis://:6379",
                                   "redis://h:",
                                   "redis://h:0",
                                   "redis://h:65536",
                                   "redis://h:x",
                                   "redis://h1,,h2",
                                   "redis://h1,",
                                   "redis://[::1",
                                   "redis://[::1]x",
                                   "redis://[::1]:",
                                   "memory:?x",
                                   "memory:?=1",
                                   "memory:?a=1&a=2",
                                   "file:%",
                                   "file:%2",
                                   "file:%zz",
                                   "file:%00"}) {
        if (std::string_view{text} == "redis://") continue;  // the store says which hosts it needs
        EXPECT_FALSE(refused(text).empty()) << text;
    }
}

TEST(url, no_password_is_ever_shown) {
    auto const it =
        url::parse("redis://me:secret@h:1/0?password=secret2&sentinel_password=secret3&a=b");
    EXPECT_EQ(it.shown(), "redis://me@h:1/0?a=b");
    // The place of one is no secret, and without it the URL would not lead to the store.
    EXPECT_EQ(url::parse("redis://h?passwordfile=/run/word").shown(),
              "redis://h?passwordfile=/run/word");
    EXPECT_EQ(refused("redis://me:secret@h:bad").find("secret"), std::string::npos);
    EXPECT_EQ(refused("redis://me:sec%zz@h").find("sec%"), std::string::npos);
}

TEST(url, what_must_be_encoded_in_a_password_is_said_and_not_repeated) {
    for (auto const* const text :
         {"redis://me:sec/ret@h", "redis://me:secret/@h", "redis://me:1234/secret@h",
          "redis://:12/secret@h:1/0", "redis://me:sec@r/secret@h", "redis://me:1?lease=secret@h",
          "redis://me:secret?x=y@h", "redis://me:secret?@h/0", "redis://me:1/x?secret=y@h",
          "redis+unix://me:sec/ret@/run/redis.sock"}) {
        auto const words = refused(text);
        EXPECT_NE(words.find("%2F"), std::string::npos) << text << ": " << words;
        for (auto const* const piece : {"sec", "ret", "1234"})
            EXPECT_EQ(words.find(piece), std::string::npos) << text << ": " << words;
    }
    EXPECT_EQ(url::parse("redis://me:a%2Fb%3Fc@h/0").password, "a/b?c");
    EXPECT_EQ(url::parse("redis://me:a@b@h").password, "a@b");
    EXPECT_EQ(url::parse("redis://h/a%40b?x=c%40d").shown(), "redis://h/a%40b?x=c%40d");
    EXPECT_EQ(url::parse("file:/a@b?x=c@d").shown(), "file:/a@b?x=c@d");
}

TEST(url, a_port_is_not_repeated) {
    for (auto const* const text :
         {"redis://me:secret", "redis://me:secret,h", "redis://me:secret/0", "redis://[::1]:secret",
          "redis://me:secret?a=b", "redis://x@me:secret"})
        EXPECT_EQ(refused(text).find("secret"), std::string::npos) << text;
}

TEST(url, what_is_shown_means_the_same) {
    for (auto const* const text : {"memory:", "file:/a%20b/c%3fd", "redis://h1:1,[::1]/0?x=y%26z",
                                   "redis://h/a%40b?x=y%40z"}) {
        auto const once = url::parse(text);
        auto const twice = url::parse(once.shown());
        EXPECT_EQ(once.path, twice.path);
        EXPECT_EQ(once.options, twice.options);
        EXPECT_EQ(once.shown(), twice.shown());
    }
}

TEST(url, options) {
    auto const it =
        url::parse("memory:?lease=5s&strict=yes&loose=0&prefx=a&zero=0&long=1d30m&longest=36601d");
    EXPECT_EQ(it.duration_option("lease", 1s), 5s);
    EXPECT_EQ(it.duration_option("other", 1s), 1s);
    EXPECT_TRUE(it.flag_option("strict", false));
    EXPECT_FALSE(it.flag_option("loose", true));
    EXPECT_TRUE(it.flag_option("none", true));
    EXPECT_THROW((void)it.duration_option("strict", 1s), std::system_error);
    EXPECT_THROW((void)it.duration_option("zero", 1s), std::system_error);
    EXPECT_EQ(it.duration_option("long", 1s), 24h + 30min);
    EXPECT_THROW((void)it.duration_option("longest", 1s), std::system_error);
    EXPECT_THROW((void)it.flag_option("lease", true), std::system_error);
    std::array<std::string_view, 7> const known{"lease", "strict", "loose",  "prefix",
                                                "zero",  "long",   "longest"};
    try {
        it.require_known_options(known);
        FAIL() << "an unknown option was taken";
    } catch (std::system_error const& error) {
        EXPECT_NE(std::string_view{error.what()}.find("'prefix'"), std::string_view::npos);
    }
}

}  // namespace
}  // namespace holdfast::base
