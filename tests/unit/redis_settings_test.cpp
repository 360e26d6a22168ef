// Store URLs for Redis, and the words for what a server reports.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stores/redis/fault.hpp"
#include "stores/redis/settings.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::stores::redis {
namespace {

settings parse(std::string const& text) { return settings::parse(base::url::parse(text)); }

std::string refused(std::string const& text) {
    try {
        (void)parse(text);
    } catch (std::system_error const& error) {
        EXPECT_EQ(error.code(), make_error_code(errc::bad_url));
        EXPECT_EQ(std::string_view{error.what()}.find("s3cret"), std::string_view::npos);
        return error.what();
    }
    ADD_FAILURE() << text << " was taken";
    return {};
}

TEST(redis_settings, hosts) {
    auto const it =
        parse("redis://me:s3cret@db.example:7000/3?timeout=500ms&prefix=app:&replicas=2");
    EXPECT_EQ(it.server.host, "db.example");
    EXPECT_EQ(it.server.port, 7000);
    EXPECT_EQ(it.user, "me");
    EXPECT_EQ(it.password, "s3cret");
    EXPECT_EQ(it.database, 3U);
    EXPECT_EQ(it.timeout, std::chrono::milliseconds{500});
    EXPECT_EQ(it.prefix, "app:");
    EXPECT_EQ(it.replicas, 2U);
    EXPECT_FALSE(it.server.tls.on);
    EXPECT_EQ(it.shown(), "redis://db.example:7000");
    EXPECT_EQ(parse("redis://h").server.port, 6379);
    EXPECT_EQ(parse("rediss://[::1]").shown(), "rediss://[::1]:6379");
    EXPECT_EQ(parse("redis://h/").database, 0U);
}

TEST(redis_settings, sockets) {
    EXPECT_EQ(parse("redis+unix:/run/redis.sock?db=2").server.socket_path, "/run/redis.sock");
    EXPECT_EQ(parse("redis+unix:///run/redis.sock").server.socket_path, "/run/redis.sock");
    EXPECT_EQ(parse("redis+unix:/s?db=2").database, 2U);
    auto const it = parse("redis+unix://me:s3cret@/run/redis.sock");
    EXPECT_EQ(it.user, "me");
    EXPECT_EQ(it.password, "s3cret");
    EXPECT_TRUE(parse("redis+unix:relative").server.socket_path.ends_with("/relative"));
    EXPECT_NE(refused("redis+unix:").find("path"), std::string::npos);
    EXPECT_NE(refused("redis+unix://host/x").find("this machine"), std::string::npos);
    EXPECT_NE(refused("redis+unix:/" + std::string(200, 'x')).find("107"), std::string::npos);
}

TEST(redis_settings, sentinels) {
    auto const wanted = parse("redis+sentinel://me:s3cret@h1:7000,h2,[::1]/main/3?replicas=1");
    EXPECT_EQ(wanted.kind, deployment::sentinel);
    ASSERT_EQ(wanted.hosts.size(), 3U);
    EXPECT_EQ(wanted.hosts[0].port, 7000);
    EXPECT_EQ(wanted.hosts[1].port, 26379);
    EXPECT_EQ(wanted.master_name, "main");
    EXPECT_EQ(wanted.database, 3U);
    EXPECT_EQ(wanted.shown(), "redis+sentinel://h1:7000,h2:26379,[::1]:26379/main");
    EXPECT_EQ(wanted.at("h9", 7001).shown(), "redis://h9:7001");
    EXPECT_EQ(wanted.at("h9", 7001).password, "s3cret");
    auto const guide = wanted.at_guide(wanted.hosts[0]);
    EXPECT_EQ(guide.password, "");
    EXPECT_EQ(guide.database, 0U);
    EXPECT_TRUE(parse("rediss+sentinel://h/main?ca=/c").server.tls.on);
    EXPECT_NE(refused("redis+sentinel://h").find("name"), std::string::npos);
    EXPECT_NE(refused("redis+sentinel:///main").find("sentinels"), std::string::npos);
    EXPECT_NE(refused("redis+sentinel://h/main/x").find("database"), std::string::npos);
    EXPECT_NE(refused("redis+sentinel://h/main?sentineluser=a").find("sentinelpasswordfile"),
              std::string::npos);
    EXPECT_NE(refused("redis+sentinel://h/main?ca=/c").find("rediss+sentinel:"), std::string::npos);
}

TEST(redis_settings, clusters) {
    auto const wanted = parse("redis+cluster://h1,h2:7000?layout=plain");
    EXPECT_EQ(wanted.kind, deployment::cluster);
    ASSERT_EQ(wanted.hosts.size(), 2U);
    EXPECT_EQ(wanted.hosts[0].port, 6379);
    EXPECT_EQ(wanted.shown(), "redis+cluster://h1:6379,h2:7000");
    EXPECT_TRUE(parse("rediss+cluster://h").server.tls.on);
    EXPECT_NE(refused("redis+cluster://h/1").find("databases"), std::string::npos);
    EXPECT_NE(refused("redis+cluster:").find("nodes"), std::string::npos);
    EXPECT_NE(refused("redis+cluster://h?sentineluser=a").find("sentineluser"), std::string::npos);
}

TEST(redis_settings, tls) {
    auto const it = parse("rediss://h?ca=/c&cert=/a&key=/b&servername=n");
    EXPECT_TRUE(it.server.tls.on);
    EXPECT_EQ(it.server.tls.authorities, "/c");
    EXPECT_EQ(it.server.tls.server_name, "n");
    EXPECT_TRUE(parse("rediss://h?insecure=1").server.tls.insecure);
    EXPECT_NE(refused("redis://h?ca=/c").find("rediss:"), std::string::npos);
    EXPECT_NE(refused("rediss://h?cert=/c").find("'key'"), std::string::npos);
    EXPECT_NE(refused("rediss://h?ca=/c&insecure=1").find("contradict"), std::string::npos);
}

TEST(redis_settings, what_is_wrong_is_said) {
    EXPECT_NE(refused("redis://").find("host"), std::string::npos);
    EXPECT_NE(refused("redis://a,b").find("one host"), std::string::npos);
    EXPECT_NE(refused("redis://h/x").find("database"), std::string::npos);
    EXPECT_NE(refused("redis://h/99999999999").find("database"), std::string::npos);
    EXPECT_NE(refused("redis://h?timout=1s").find("'timeout'"), std::string::npos);
    EXPECT_NE(refused("redis://h?timeout=soon").find("duration"), std::string::npos);
    EXPECT_NE(refused("redis://h?layout=round").find("plain"), std::string::npos);
    EXPECT_NE(refused("redis://h?prefix={x}").find("braces"), std::string::npos);
    EXPECT_NE(refused("redis://h?replicas=many").find("number"), std::string::npos);
    EXPECT_NE(refused("redis://h?db=1").find("redis+unix"), std::string::npos);
    EXPECT_NE(refused("redis://me@h").find("no password"), std::string::npos);
}

TEST(redis_settings, no_piece_of_a_password_is_repeated) {
    for (auto const* const text :
         {"redis://me:s3cret/@h", "redis://me:1234/s3cret@h", "redis://me:1234/s3cret%40h",
          "redis://:1234/s3cret", "redis://me:s3cret", "redis://me:1?timeout=s3cret@h",
          "redis://me:1?s3cret=@h", "redis://me:s3cret?timeout=1s@h", "redis://me:s3cret@h:x",
          "redis://me:s3cret@h/x", "redis://me:s3cret@a,b", "redis:me:s3cret@h",
          "redis+unix://me:s3/s3cret@/run/redis.sock", "redis+unix://me:s3cret@h/run/redis.sock"})
        EXPECT_FALSE(refused(text).empty()) << text;  // which looks for the password
}

TEST(redis_settings, passwords_come_from_three_places) {
    support::temporary_directory place;
    auto const file = (place.path() / "password").string();
    std::ofstream{file} << "s3cret from a file\n";
    EXPECT_EQ(parse("redis://h?passwordfile=" + file).password, "s3cret from a file");
    EXPECT_NE(refused("redis://:s3cret@h?passwordfile=" + file).find("give one"),
              std::string::npos);
    EXPECT_NE(refused("redis://h?passwordfile=" + file + "x").find("cannot be read"),
              std::string::npos);
    ::setenv("HOLDFAST_REDIS_PASSWORD", "from the environment", 1);
    EXPECT_EQ(parse("redis://h").password, "from the environment");
    EXPECT_EQ(parse("redis://:own@h").password, "own");
    ::unsetenv("HOLDFAST_REDIS_PASSWORD");
    EXPECT_EQ(parse("redis://h").password, "");
}

TEST(redis_fault, each_error_has_its_kind_and_cure) {
    auto const of = parse("redis://:s3cret@h");
    struct row {
        std::string_view words;
        errc why;
        std::string_view cure;
    };
    for (auto const& [words, why, cure] :
         {row{"BUSY Redis is busy running a script.", errc::store_unavailable, "slow script"},
          row{"LOADING Redis is loading", errc::store_unavailable, "loading"},
          row{"MASTERDOWN Link with MASTER is down", errc::store_unavailable, "primary"},
          row{"TRYAGAIN Multiple keys", errc::store_unavailable, "try again"},
          row{"READONLY You can't write", errc::store_unavailable, "primary"},
          row{"UNBLOCKED force unblock from blocking operation, instance state changed",
              errc::store_unavailable, "has become a replica"},
          row{"ERR WAIT cannot be used with replica instances.", errc::store_unavailable,
              "has become a replica"},
          row{"OOM command not allowed", errc::store_unavailable, "maxmemory"},
          row{"NOAUTH Authentication required.", errc::access_denied, "HOLDFAST_REDIS_PASSWORD"},
          row{"WRONGPASS invalid", errc::access_denied, "password"},
          row{"NOPERM this user", errc::access_denied, "ACL SETUSER"},
          row{"WRONGTYPE Operation", errc::unsupported, "prefix"},
          row{"ERR max number of clients reached", errc::store_unavailable, "clients"},
          row{"ERR invalid password", errc::access_denied, "password"},
          row{"ERR Error running script (call to f_1): @user_script:3: -OOM command not allowed",
              errc::store_unavailable, "maxmemory"},
          row{"ERR Error running script (call to f_1): @user_script: 9: WRONGTYPE Operation",
              errc::unsupported, "prefix"},
          row{"HOLDFAST another name", errc::unsupported, "refused"}}) {
        auto const it = explain(words, of);
        EXPECT_TRUE(it.is(why)) << words << ": " << it.code << " " << it.text;
        EXPECT_NE(it.text.find(cure), std::string::npos) << it.text;
        EXPECT_NE(it.text.find("redis://h:6379"), std::string::npos) << it.text;
        EXPECT_NE(it.text.find(words), std::string::npos) << it.text;
    }
}

TEST(redis_fault, a_server_that_repeats_the_password_is_not_repeated) {
    auto const of = parse("redis://:s3cret@h");
    auto const it =
        explain("ERR unknown command 'AUTH', with args beginning with: 's3cret'\x1b", of);
    EXPECT_EQ(it.text.find("s3cret"), std::string::npos) << it.text;
    EXPECT_EQ(it.text.find('\x1b'), std::string::npos) << it.text;
}

}  // namespace
}  // namespace holdfast::stores::redis
