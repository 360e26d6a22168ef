// What URLs ask for, and what they may not.
#include "stores/etcd/settings.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "support/failure.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::stores::etcd {

namespace {

settings parse(std::string const& url) { return settings::parse(base::url::parse(url)); }
std::string words_for(std::string const& url) {
    return support::words_of([&] { return parse(url); });
}
std::error_code failure_for(std::string const& url) {
    return support::failure_of([&] { return parse(url); });
}

TEST(etcd_settings, members_have_a_port_of_their_own_or_the_usual_one) {
    auto const found = parse("etcd://a,b:1234,[::1]:9");
    ASSERT_EQ(found.members.size(), 3U);
    EXPECT_EQ(found.member(0), "a:2379");
    EXPECT_EQ(found.member(1), "b:1234");
    EXPECT_EQ(found.member(2), "[::1]:9");
    EXPECT_EQ(found.shown(), "etcd://a:2379,b:1234,[::1]:9");
    EXPECT_FALSE(found.tls.on);
    EXPECT_EQ(found.prefix, "holdfast/");
    EXPECT_EQ(found.timeout, std::chrono::seconds{3});
}

TEST(etcd_settings, options_are_taken) {
    auto const found =
        parse("etcds://anna:word@a?prefix=locks/&timeout=250ms&servername=etcd.example&lease=5s");
    EXPECT_TRUE(found.tls.on);
    EXPECT_EQ(found.user, "anna");
    EXPECT_EQ(found.password, "word");
    EXPECT_EQ(found.prefix, "locks/");
    EXPECT_EQ(found.timeout, std::chrono::milliseconds{250});
    EXPECT_EQ(found.tls.server_name, "etcd.example");
    EXPECT_EQ(found.shown(), "etcds://a:2379");
}

TEST(etcd_settings, what_cannot_be_meant_is_refused_with_the_reason) {
    for (auto const* const url :
         {"etcd:", "etcd://a/path", "etcd://a?prefx=b", "etcd://a?ca=/etc/passwd",
          "etcds://a?cert=/etc/passwd", "etcds://a?ca=/no/such/file", "etcd://a?timeout=0s",
          "etcd://anna@a", "etcd://a?passwordfile=/etc/passwd"})
        EXPECT_EQ(failure_for(url), errc::bad_url) << url;
    EXPECT_NE(words_for("etcd://a?prefx=b").find("prefix"), std::string::npos);
    EXPECT_NE(words_for("etcd://a?ca=/etc/passwd").find("etcds"), std::string::npos);
    EXPECT_NE(words_for("etcds://a?ca=/no/such/file").find("/no/such/file"), std::string::npos);
    EXPECT_NE(words_for("etcd://anna@a").find("HOLDFAST_ETCD_PASSWORD"), std::string::npos);
}

TEST(etcd_settings, a_password_comes_from_a_file_or_the_environment) {
    support::temporary_directory const place;
    auto const file = (place.path() / "password").string();
    std::ofstream{file} << "from the file\n";
    EXPECT_EQ(parse("etcd://anna@a?passwordfile=" + file).password, "from the file");
    ::setenv("HOLDFAST_ETCD_PASSWORD", "from the environment", 1);
    EXPECT_EQ(parse("etcd://anna@a").password, "from the environment");
    EXPECT_EQ(parse("etcd://a").password, "");  // nobody asks for it
    ::unsetenv("HOLDFAST_ETCD_PASSWORD");
}

TEST(etcd_settings, a_password_is_not_repeated) {
    EXPECT_EQ(words_for("etcd://anna:s3cret@a/path").find("s3cret"), std::string::npos);
}

}  // namespace

}  // namespace holdfast::stores::etcd
