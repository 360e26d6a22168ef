// Servers that refuse, forget, fall silent or restart.
#include "support/eventually.hpp"
#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

class redis_trouble : public redis_test {
protected:
    static std::string login(std::string const& user, std::string const& password) {
        return "redis://" + user + ":" + password + "@127.0.0.1:" + std::to_string(server().port());
    }
};

TEST_F(redis_trouble, forgotten_scripts_are_loaded_and_nobody_notices) {
    peer mine{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    server().ask({"SCRIPT", "FLUSH"});
    EXPECT_EQ(mine.settle(held), seam::ending::released);
    server().ask({"SCRIPT", "FLUSH"});
    // The same claim is asked for and ended many times, in order, before any answer came.
    std::vector<seam::request_id> submits;
    std::vector<seam::request_id> settles;
    for (int i = 0; i < 50; ++i) {
        auto const it = mine.claim("q");
        submits.push_back(mine.begin(seam::submit{{it}, false, seam::store_time::max()}));
        settles.push_back(mine.begin(seam::settle{{it}}));
    }
    for (auto const id : submits)
        EXPECT_TRUE(is_granted(mine.await(id)));
    for (auto const id : settles)
        EXPECT_EQ(std::get<seam::settled>(mine.await(id).body).how, seam::ending::released);
}

// Somebody else has loaded the one script again, nobody the other.
class redis_forgotten : public redis_trouble, public testing::WithParamInterface<std::string> {
protected:
    seam::request_id submit(seam::claim const& wanted) {
        return mine_.begin(seam::submit{{wanted}, false, seam::store_time::max()});
    }
    seam::request_id settle(seam::claim const& ended) { return mine_.begin(seam::settle{{ended}}); }
    seam::sequence token(seam::request_id of) {
        auto const reply = mine_.await(of);
        EXPECT_TRUE(is_granted(reply)) << "something before it was sent back";
        auto const* const granted = std::get_if<seam::granted>(&reply.body);
        return granted != nullptr ? granted->held.number : seam::sequence{};
    }
    seam::ending ending(seam::request_id of) {
        return std::get<seam::settled>(mine_.await(of).body).how;
    }
    template <class Call>
    void forget_all_but(Call call) {
        server().ask({"SCRIPT", "FLUSH"});
        peer other{server().url() + GetParam()};
        call(other, other.claim("another"));
    }

    peer mine_{server().url() + GetParam()};
};

TEST_P(redis_forgotten, settlements_are_not_overtaken) {
    for (int round = 0; round < 10; ++round) {
        auto const one = mine_.claim("q");
        auto const two = mine_.claim("q");
        auto const three = mine_.claim("q");
        auto const first = token(submit(one));
        forget_all_but([](peer& other, seam::claim const& what) { (void)other.submit(what); });
        auto const ended = settle(one);
        auto const wanted = submit(two);
        auto const again = settle(two);
        auto const last = submit(three);
        EXPECT_EQ(ending(ended), seam::ending::released);
        auto const second = token(wanted);
        EXPECT_EQ(ending(again), seam::ending::released);
        EXPECT_LT(first, second);
        EXPECT_LT(second, token(last));
        EXPECT_EQ(ending(settle(three)), seam::ending::released) << "nobody else holds it";
    }
}

TEST_P(redis_forgotten, submits_are_not_overtaken) {
    for (int round = 0; round < 10; ++round) {
        auto const one = mine_.claim("q");
        auto const two = mine_.claim("q");
        ASSERT_NE(token(submit(one)), seam::sequence{});
        ASSERT_EQ(ending(settle(one)), seam::ending::released);
        forget_all_but([](peer& other, seam::claim const& what) { (void)other.settle(what); });
        auto const again = submit(one);
        auto const ended = settle(one);
        auto const wanted = submit(two);
        auto const first = token(again);
        EXPECT_EQ(ending(ended), seam::ending::released) << "else nobody owns the hold";
        EXPECT_LT(first, token(wanted));
        EXPECT_EQ(ending(settle(two)), seam::ending::released);
    }
}

INSTANTIATE_TEST_SUITE_P(layouts, redis_forgotten, testing::Values("", "?layout=plain"));

TEST_F(redis_trouble, scripts_that_may_not_be_loaded_go_with_the_call) {
    server().ask({"SCRIPT", "FLUSH"});
    server().ask(
        {"ACL", "SETUSER", "lean", "reset", "on", ">secret", "~*", "&*", "+@all", "-script"});
    peer mine{login("lean", "secret")};
    for (int round = 0; round < 3; ++round) {
        auto const held = mine.claim("q");
        auto const reply = mine.submit(held);
        ASSERT_TRUE(is_granted(reply)) << error_of(reply).text;
        EXPECT_EQ(mine.settle(held), seam::ending::released);
        if (round == 1) server().ask({"SCRIPT", "FLUSH"});
    }
    server().ask({"ACL", "DELUSER", "lean"});
}

TEST_F(redis_trouble, a_killed_connection_is_made_again) {
    peer mine{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held, true)));
    ASSERT_TRUE(mine.listens(server()));
    server().ask({"CLIENT", "KILL", "TYPE", "normal"});
    auto reply = mine.send(seam::renew{{{held, 30s}}});
    if (error_of(reply)) {
        EXPECT_TRUE(error_of(reply).is(errc::store_unavailable)) << error_of(reply).text;
        reply = mine.send(seam::renew{{{held, 30s}}});
    }
    EXPECT_TRUE(std::holds_alternative<seam::renewed>(reply.body)) << error_of(reply).text;
    server().ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    auto const again = mine.next<seam::session_changed>();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->became, seam::session_changed::state::restored);
    peer other{server().url()};
    ASSERT_TRUE(is_queued(other.submit(other.claim("q"), true)));
    EXPECT_TRUE(mine.next<seam::name_contended>()) << "messages arrive again";
}

TEST_F(redis_trouble, watches_are_set_again_after_a_break) {
    peer mine{server().url()};
    peer other{server().url()};
    seam::cell_key const key{lock_kind::barrier, "b", {}};
    ASSERT_TRUE(std::holds_alternative<seam::done>(mine.send(seam::watch{key}).body));
    ASSERT_TRUE(mine.next<seam::session_changed>());
    server().ask({"FLUSHALL"});
    server().ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    ASSERT_TRUE(mine.next<seam::session_changed>());
    EXPECT_TRUE(support::eventually([&] {
        auto const was = std::get<seam::cell>(other.send(seam::read{key}).body);
        auto const it =
            other.send(seam::swap{key, was.version, "x", 1h, {other.id(), base::entropy()}});
        EXPECT_TRUE(std::holds_alternative<seam::swapped>(it.body));
        return mine.next<seam::changed>(100ms).has_value();
    }));
}

TEST_F(redis_trouble, passwords_and_rights) {
    server().ask({"ACL", "SETUSER", "mute", "on", ">s3cret", "+@all", "-@scripting", "~*", "&*"});
    server().ask({"ACL", "SETUSER", "able", "reset", "on", ">s3cret", "~holdfast:*",
                  "resetchannels", "&holdfast:client:*", "+@read", "+@write", "+@scripting",
                  "+@pubsub", "+@connection", "+time"});
    auto const error = [](std::string const& url) {
        peer mine{url};
        auto out = error_of(mine.submit(mine.claim("x"), true));
        EXPECT_EQ(out.text.find("s3cret"), std::string::npos) << out.text;
        EXPECT_EQ(mine.log().find("s3cret"), std::string::npos) << mine.log();
        return out;
    };
    expect(error(login("mute", "s3cret2")), errc::access_denied, "WRONGPASS");
    expect(error(login("nobody", "s3cret")), errc::access_denied, "WRONGPASS");
    expect(error(login("mute", "s3cret")), errc::access_denied, "ACL SETUSER");
    expect(error(login("", "s3cret")), errc::access_denied, "password");
    EXPECT_FALSE(error(login("able", "s3cret"))) << error(login("able", "s3cret")).text;

    support::redis_server locked{{.arguments = {"--requirepass", "s3cret"}}};
    auto const port = std::to_string(locked.port());
    expect(error("redis://127.0.0.1:" + port), errc::access_denied, "HOLDFAST_REDIS_PASSWORD");
    EXPECT_FALSE(error("redis://:s3cret@127.0.0.1:" + port));
}

TEST_F(redis_trouble, databases_are_apart) {
    peer mine{server().url() + "/3"};
    peer other{server().url()};
    ASSERT_TRUE(is_granted(mine.submit(mine.claim("q"))));
    EXPECT_TRUE(is_granted(other.submit(other.claim("q"))));
    peer lost{server().url() + "/1000"};
    expect(error_of(lost.submit(lost.claim("q"))), errc::unsupported, "DB index");
}

TEST_F(redis_trouble, a_server_without_memory_still_releases) {
    peer mine{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    ASSERT_EQ(mine.renew(held).found, seam::renewal::status::alive);
    server().ask({"CONFIG", "SET", "maxmemory", "1"});
    expect(error_of(mine.submit(mine.claim("r"))), errc::store_unavailable, "maxmemory");
    EXPECT_EQ(mine.renew(held).found, seam::renewal::status::alive);
    EXPECT_EQ(mine.settle(held), seam::ending::released);
    server().ask({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("r"))));
}

TEST_F(redis_trouble, a_key_of_somebody_else_is_not_touched) {
    peer mine{server().url()};
    server().ask({"LPUSH", "holdfast:name:{q}", "theirs"});
    expect(error_of(mine.submit(mine.claim("q"))), errc::unsupported, "somebody else");
    EXPECT_EQ(server().ask({"LRANGE", "holdfast:name:{q}", "0", "-1"}), "theirs");
    peer apart{server().url() + "?prefix=app:"};
    EXPECT_TRUE(is_granted(apart.submit(apart.claim("q"))));
}

TEST_F(redis_trouble, a_replica_is_told_from_a_primary) {
    support::redis_server replica{
        {.arguments = {"--replicaof", "127.0.0.1", std::to_string(server().port()),
                       "--repl-diskless-sync-delay", "0"}}};
    ASSERT_TRUE(support::eventually([&] {
        return replica.ask({"INFO", "replication"}).find("master_link_status:up") !=
               std::string::npos;
    }));
    peer mine{replica.url()};
    expect(error_of(mine.send(seam::hello{})), errc::store_unavailable, "replica");
    expect(error_of(mine.submit(mine.claim("q"))), errc::store_unavailable, "primary");
}

TEST_F(redis_trouble, grants_wait_for_replicas) {
    support::redis_server primary{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    {
        peer lonely{primary.url() + "?replicas=1&timeout=400ms"};
        expect(error_of(lonely.submit(lonely.claim("q"))), errc::store_unavailable,
               "0 of 1 replicas");
    }
    support::redis_server replica{
        {.arguments = {"--replicaof", "127.0.0.1", std::to_string(primary.port())}}};
    auto const url = primary.url() + "?replicas=1&timeout=3s";  // a replica may be slow at first
    peer mine{url};
    peer other{url};
    auto const held = mine.claim("r");
    ASSERT_TRUE(support::eventually([&] { return is_granted(mine.submit(held, true)); }));
    EXPECT_NE(replica.ask({"EXISTS", "holdfast:name:{r}"}), "0");
    EXPECT_EQ(mine.renew(held).found, seam::renewal::status::alive);
    auto const waiting = other.claim("r");
    ASSERT_TRUE(is_queued(other.submit(waiting, true)));
    ASSERT_TRUE(other.listens(primary));
    EXPECT_EQ(mine.settle(held), seam::ending::released);
    EXPECT_TRUE(other.next<seam::claim_granted>());
    replica.stop();
    auto const reply = other.send(seam::renew{{{waiting, 30s}}});
    expect(error_of(reply), errc::store_unavailable, "0 of 1 replicas");
    EXPECT_EQ(other.settle(waiting), seam::ending::released) << "what ends needs no replica";
}

// What is asked for before there is a connection goes out together.
TEST_F(redis_trouble, grants_that_went_together_wait_for_replicas_each) {
    support::redis_server primary{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    support::redis_server replica{
        {.arguments = {"--replicaof", "127.0.0.1", std::to_string(primary.port())}}};
    auto const url = primary.url() + "?replicas=1&timeout=3s";
    ASSERT_TRUE(support::eventually([&] {
        peer first{url};
        auto const held = first.claim("first");
        bool const granted = is_granted(first.submit(held));
        return granted && first.settle(held) == seam::ending::released;
    }));
    auto const submit_all = [&](peer& mine) {
        std::vector<seam::request_id> asked;
        for (auto const* const name : {"a", "b", "c", "d", "e", "f"})
            asked.push_back(
                mine.begin(seam::submit{{mine.claim(name)}, false, seam::store_time::max()}));
        std::vector<seam::reply> out;
        for (auto const id : asked)
            out.push_back(mine.await(id));
        return out;
    };
    primary.ask({"CONFIG", "RESETSTAT"});
    {
        peer mine{url};
        for (auto const& each : submit_all(mine))
            EXPECT_TRUE(is_granted(each)) << error_of(each).text;
        EXPECT_EQ(replica.ask({"EXISTS", "holdfast:name:{a}", "holdfast:name:{f}"}), "2");
    }
    auto const stats = primary.ask({"INFO", "commandstats"});
    auto const calls = stats.find("cmdstat_evalsha:calls=");
    ASSERT_NE(calls, std::string::npos) << stats;
    EXPECT_LT(stats.substr(calls + 22, 2), "3,") << "they went together";
    primary.ask({"FLUSHALL"});
    replica.stop();
    peer mine{url};
    for (auto const& each : submit_all(mine))
        EXPECT_TRUE(error_of(each).is(errc::store_unavailable)) << error_of(each).text;
}

TEST_F(redis_trouble, a_server_that_loads_is_waited_for) {
    support::redis_server slow{
        {.arguments = {"--loading-process-events-interval-bytes", "1024", "--key-load-delay",
                       "2000", "--rdbcompression", "no"}}};
    for (int i = 0; i < 800; ++i)
        slow.ask({"SET", "filler" + std::to_string(i), std::string(200, 'x')});
    slow.ask({"SAVE"});
    slow.kill();
    slow.start();
    peer mine{slow.url()};
    bool loading = false;
    EXPECT_TRUE(support::eventually([&] {
        auto const reply = mine.submit(mine.claim("q"));
        loading = loading || error_of(reply).text.find("loading") != std::string::npos;
        EXPECT_TRUE(is_granted(reply) || error_of(reply).is(errc::store_unavailable));
        return is_granted(reply);
    }));
    EXPECT_TRUE(loading);
}

TEST_F(redis_trouble, a_server_that_restarts_empty_has_lost_the_hold) {
    support::redis_server own;
    peer mine{own.url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    own.kill();
    expect(error_of(mine.send(seam::renew{{{held, 30s}}})), errc::store_unavailable, "127.0.0.1");
    own.start();
    EXPECT_TRUE(support::eventually([&] {
        auto const reply = mine.send(seam::renew{{{held, 30s}}});
        auto const* const it = std::get_if<seam::renewed>(&reply.body);
        return it != nullptr && it->items.front().found == seam::renewal::status::gone;
    }));
}

TEST_F(redis_trouble, a_silent_server_is_given_up_in_time) {
    support::redis_server own;
    peer mine{own.url() + "?timeout=200ms"};
    ASSERT_TRUE(is_granted(mine.submit(mine.claim("q"), true)));
    own.stop();
    support::stopwatch const since;
    expect(error_of(mine.submit(mine.claim("r"))), errc::store_unavailable, "200 ms");
    EXPECT_LT(since.elapsed(), 5s);
    own.resume();
    EXPECT_TRUE(support::eventually([&] { return is_granted(mine.submit(mine.claim("s"))); }));
}

TEST_F(redis_trouble, nobody_at_home) {
    peer mine{"redis://127.0.0.1:1"};
    expect(error_of(mine.submit(mine.claim("q"))), errc::store_unavailable, "refused");
    peer nowhere{"redis://no.such.host.invalid"};
    expect(error_of(nowhere.submit(nowhere.claim("q"))), errc::store_unavailable, "not known");
    peer socket{"redis+unix:/no/such/socket"};
    expect(error_of(socket.submit(socket.claim("q"))), errc::store_unavailable, "No such file");
}

TEST_F(redis_trouble, tls_checks_the_name_and_the_authority) {
    support::redis_server secure{{.tls = true}};
    auto const error = [&](std::string const& host, std::string const& options) {
        peer mine{"rediss://" + host + ":" + std::to_string(secure.port()) + options};
        return error_of(mine.submit(mine.claim(host + options), true));
    };
    auto const ca = "?ca=" + secure.authority();
    EXPECT_FALSE(error("localhost", ca)) << error("localhost", ca).text;
    EXPECT_FALSE(error("127.0.0.1", ca)) << error("127.0.0.1", ca).text;
    EXPECT_FALSE(error("127.0.0.1", "?insecure=1"));
    expect(error("localhost", ""), errc::store_unavailable, "certificate is not taken");
    expect(error("localhost", ca + "&servername=other.example"), errc::store_unavailable,
           "certificate is not taken");
    EXPECT_FALSE(error("127.0.0.1", ca + "&servername=localhost"));
    expect(error("localhost", "?ca=/no/such/file"), errc::store_unavailable, "/no/such/file");
    peer plain{"redis://127.0.0.1:" + std::to_string(secure.port()) + "?timeout=1s"};
    EXPECT_TRUE(error_of(plain.submit(plain.claim("q"))).is(errc::store_unavailable));
    peer wrong{"rediss://127.0.0.1:" + std::to_string(server().port()) + "?timeout=1s"};
    EXPECT_TRUE(error_of(wrong.submit(wrong.claim("q"))).is(errc::store_unavailable));
}

}  // namespace
}  // namespace holdfast::test
