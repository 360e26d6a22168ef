// Parts of the MySQL store alone: URLs, errors, words.
#include <gtest/gtest.h>

#include "base/url.hpp"
#include "stores/mysql/durable_grants.hpp"
#include "stores/mysql/fault.hpp"
#include "stores/mysql/schema.hpp"
#include "stores/mysql/server_life.hpp"
#include "stores/mysql/settings.hpp"
#include "stores/mysql/statements.hpp"

namespace holdfast::stores::mysql {
namespace {

settings parsed(std::string const& url) { return settings::parse(base::url::parse(url)); }

std::string refusal_of(std::string const& url) {
    try {
        (void)parsed(url);
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), errc::bad_url);
        return error.what();
    }
    return {};
}

TEST(mysql_settings, parts_of_a_url) {
    auto const found = parsed(
        "mysql://app:s%40cret@[::1]:3307/locks?prefix=hf_&connections=2&timeout=1s&cert=/c&key=/k");
    EXPECT_EQ(found.host, "::1");
    EXPECT_EQ(found.port, 3307);
    EXPECT_EQ(found.database, "locks");
    EXPECT_EQ(found.user, "app");
    EXPECT_EQ(found.password, "s@cret");
    EXPECT_EQ(found.prefix, "hf_");
    EXPECT_EQ(found.connections, 2U);
    EXPECT_EQ(found.timeout, std::chrono::seconds{1});
    EXPECT_EQ(found.tls.certificate, "/c");
    EXPECT_EQ(found.server, "mysql://[::1]:3307");
    EXPECT_EQ(parsed("mysql:///x?socket=/run/s").socket, "/run/s");
}

TEST(mysql_settings, an_authority_is_asked) {
    EXPECT_EQ(parsed("mysql://h/x").tls.mode, "");
    EXPECT_EQ(parsed("mysql://h/x?ca=/a").tls.mode, "verify-full");
    EXPECT_EQ(parsed("mysql://h/x?ca=/a&sslmode=require").tls.mode, "require");
}

TEST(mysql_settings, what_is_refused) {
    EXPECT_NE(refusal_of("mysql://h").find("no database"), std::string::npos);
    EXPECT_NE(refusal_of("mysql://a,b/x").find("one server"), std::string::npos);
    EXPECT_NE(refusal_of("mysql://h/x?prefx=a").find("prefix"), std::string::npos);
    EXPECT_NE(refusal_of("mysql://h/x?sslmode=maybe").find("verify-full"), std::string::npos);
    EXPECT_NE(refusal_of("mysql://h/x?connections=0"), "");
    EXPECT_NE(refusal_of("mysql://h/x?cert=/c"), "");
    EXPECT_NE(refusal_of("mysql://h/x?sslmode=disable&ca=/c"), "");
    EXPECT_NE(refusal_of("mysql://h/x?socket=/s"), "");
    EXPECT_NE(refusal_of("mysql://h/x?optionfile=/nowhere"), "");
    for (auto const* const prefix : {"1a", "A", "a-b", "a.b", "a%27b"})
        EXPECT_NE(refusal_of(std::string{"mysql://h/x?prefix="} + prefix), "") << prefix;
    EXPECT_NE(refusal_of("mysql://u:p@h/x?passwordfile=/nowhere"), "");
}

TEST(mysql_faults, numbers_have_their_meaning_and_the_password_is_in_none) {
    auto const of = parsed("mysql://u:sesame@h/x");
    EXPECT_EQ(explain(1045, "no, sesame", of).text.find("sesame"), std::string::npos);
    EXPECT_TRUE(explain(1045, "no", of).is(errc::access_denied));
    EXPECT_TRUE(explain(1040, "full", of).is(errc::store_unavailable));
    EXPECT_TRUE(explain(2013, "lost", of).is(errc::store_unavailable));
    EXPECT_TRUE(explain(1064, "what?", of).is(errc::unsupported));
    EXPECT_TRUE(may_be_sent_again(1213));
    EXPECT_TRUE(may_be_sent_again(1020));
    EXPECT_FALSE(may_be_sent_again(1317));
}

TEST(mysql_server_life, another_one) {
    server_life const one{.connection = 7, .began = 1000};
    EXPECT_FALSE(one.is_before({.connection = 9, .began = 1001}));
    EXPECT_FALSE(one.is_before({.connection = 9, .began = 999}));
    EXPECT_TRUE(one.is_before({.connection = 9, .began = 1003})) << "started later";
    EXPECT_TRUE(one.is_before({.connection = 5, .began = 1001})) << "counts anew";
}

TEST(mysql_statements, bytes_are_digits) {
    EXPECT_EQ(literal(std::string_view{"a';\0\xff", 5}), "X'61273b00ff'");
    EXPECT_EQ(literal(std::string_view{}), "X''");
    EXPECT_EQ(ids_of({}), "NULL");
    EXPECT_EQ(ids_of({compare::session_id{7}, compare::session_id{8}}), "7,8");
}

// A semicolon is the end of a statement and nothing else, whatever is in the values.
TEST(mysql_statements, a_mark_in_a_value_is_none) {
    schema const tables{"p_"};
    auto const look = packets::change_of({"%^~#$;", false});
    EXPECT_EQ(look.find(';'), std::string::npos);
    EXPECT_NE(tables.filled(look, false).find("255e7e23243b"), std::string::npos);
    EXPECT_EQ(tables.filled("SELECT # FROM %x", false).find("NEXTVAL(p_stamp)"), 7U);
    EXPECT_NE(tables.filled("$SELECT #", true).find("INSERT INTO p_stamp"), std::string::npos);
}

// Stamps of two names can be the same, of which one is on the disk and the other is not.
TEST(mysql_durable_grants, are_known_by_name_session_and_stamp) {
    durable_grants known;
    durable_grants::grant const one{{"a", false}, compare::session_id{1}, compare::stamp{7}};
    known.add(one);
    EXPECT_TRUE(known.contains(one));
    EXPECT_FALSE(known.contains({{"b", false}, one.to, one.written}));
    EXPECT_FALSE(known.contains({{"a", true}, one.to, one.written}));
    EXPECT_FALSE(known.contains({one.name, compare::session_id{2}, one.written}));
    EXPECT_FALSE(known.contains({one.name, one.to, compare::stamp{8}}));
}

}  // namespace
}  // namespace holdfast::stores::mysql
