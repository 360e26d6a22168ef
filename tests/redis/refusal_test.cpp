// Servers that refuse: what a user of the library gets to see, and how soon. What the store makes of
// each answer is shown in tests/unit/redis_trouble_test.cpp.
#include <memory>

#include "redis/fixture.hpp"
#include "support/proxy.hpp"

namespace holdfast::redis_faults {
namespace {

constexpr auto password = "tr0ub4dor";

/// A client that notes all that is said.
class listener {
public:
    explicit listener(std::string const& url)
        : client_{url, {.patience = 400ms, .log = [this](log_level, std::string_view text) {
                            std::lock_guard const guard{mutex_};
                            log_.append(text).append("\n");
                        }}} {}
    ~listener() {
        client_.close();
        EXPECT_EQ(log_.find(password), std::string::npos) << log_;
        EXPECT_EQ(client_.url().find(password), std::string::npos) << client_.url();
    }
    listener(listener const&) = delete;
    listener& operator=(listener const&) = delete;

    client& it() { return client_; }

private:
    std::mutex mutex_;
    std::string log_;
    client client_;
};

/// Each way to ask says the same: the code, words that name the cure, not later than `bound`, and no
/// password.
void expect_refusal(std::string const& url, errc code, std::string const& cure,
                    std::chrono::milliseconds bound) {
    auto const expect = [&](char const* what, std::string const& words_wanted, auto call) {
        listener mine{url};  // a new one: later the pause between tries may outlast a short wait
        stopwatch const since;
        std::string words;
        std::error_code found;
        try {
            call(mine.it());
        } catch (std::system_error const& error) {
            words = error.what();
            found = error.code();
        }
        EXPECT_EQ(found, code) << what << ": " << words;
        EXPECT_NE(words.find(words_wanted), std::string::npos) << what << ": " << words;
        EXPECT_EQ(words.find(password), std::string::npos) << what << ": " << words;
        EXPECT_LT(since.elapsed(), bound) << what;
    };
    expect("lock", cure, [](client& by) { mutex{by, "q"}.lock(); });
    // A wait may end while a try is under way: then only the code is sure.
    expect("semaphore", "", [](client& by) { (void)semaphore{by, "p", 2}.try_acquire_for(400ms); });
    expect("latch", cure, [](client& by) { latch{by, "gate", 1}.count_down(); });
    expect("locks", cure, [](client& by) { (void)by.locks(); });
}

std::string at(redis_server const& server, std::string const& login) {
    return "redis://" + login + "@127.0.0.1:" + std::to_string(server.port());
}

constexpr auto soon = 2s;      // nothing is waited for
constexpr auto patient = 15s;  // behind the patience, on a loaded machine

TEST(refusal_test, a_wrong_password_is_told_at_once) {
    redis_server const server{{.arguments = {"--requirepass", "another"}}};
    auto const wrong = std::string{":"} + password;
    expect_refusal(at(server, wrong), errc::access_denied, "password", soon);
    expect_refusal(server.url(), errc::access_denied, "HOLDFAST_REDIS_PASSWORD", soon);
}

TEST(refusal_test, a_right_that_is_missing_is_named) {
    redis_server const server;
    auto const secret = std::string{">"} + password;
    server.ask({"ACL", "SETUSER", "mute", "on", secret, "~*", "&*", "+@all", "-@scripting"});
    auto const login = std::string{":"} + password;
    listener mine{at(server, "mute" + login)};
    mutex lock{mine.it(), "q"};
    stopwatch const since;
    EXPECT_EQ(support::failure_of([&] { lock.lock(); }), errc::access_denied);
    EXPECT_LT(since.elapsed(), soon);
    auto const words = support::words_of([&] { lock.lock(); });
    EXPECT_NE(words.find("ACL SETUSER"), std::string::npos) << words;
    EXPECT_EQ(words.find(password), std::string::npos) << words;
    // It is used as soon as it may be.
    server.ask({"ACL", "SETUSER", "mute", "+@scripting"});
    EXPECT_TRUE(lock.try_lock_for(support::patience));
    lock.unlock();
}

// The first who waits needs messages: without the channel nobody could be told.
TEST(refusal_test, a_channel_that_is_missing_hinders_nobody_for_long) {
    redis_server const server;
    auto const secret = std::string{">"} + password;
    server.ask({"ACL", "SETUSER", "deaf", "on", secret, "~*", "resetchannels", "+@all"});
    listener mine{at(server, std::string{"deaf:"} + password)};
    client other{server.url()};
    auto held = mutex{other, "q"}.acquire();
    auto waiting = std::async(std::launch::async, [&] {
        return mutex{mine.it(), "q", {.lease = 3s}}.try_acquire_for(support::patience).has_value();
    });
    ASSERT_TRUE(eventually([&] {
        auto const all = other.locks("q");
        return waiting.wait_for(0s) == std::future_status::ready ||
               (all.size() == 1 && all.front().waiters.size() == 1);
    }));
    EXPECT_EQ(held.release(), release_outcome::released);
    auto const outcome = support::failure_of([&] { EXPECT_TRUE(waiting.get()); });
    EXPECT_TRUE(!outcome || outcome == errc::access_denied) << outcome;
}

TEST(refusal_test, a_read_only_replica_sends_to_its_primary) {
    redis_server const primary{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    redis_server const replica{
        {.arguments = {"--replicaof", "127.0.0.1", std::to_string(primary.port())}}};
    ASSERT_TRUE(eventually([&] {
        return replica.ask({"INFO", "replication"}).find("master_link_status:up") !=
               std::string::npos;
    }));
    listener mine{replica.url()};
    mutex lock{mine.it(), "q"};
    for (int i = 0; i < 2; ++i) {
        stopwatch const since;
        auto const ask = [&] { i == 0 ? lock.lock() : void(lock.try_acquire_for(500ms)); };
        auto const words = support::words_of(ask);
        EXPECT_NE(words.find("name the primary"), std::string::npos) << words;
        EXPECT_LT(since.elapsed(), patient);
    }
    EXPECT_EQ(support::failure_of([&] { return lock.try_acquire(); }), errc::store_unavailable);
    // After a failover the replica is the primary, for the same client.
    replica.ask({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(lock.try_acquire_for(support::patience));
}

TEST(refusal_test, without_memory_holds_live_on) {
    redis_server const server;
    listener mine{server.url()};
    auto held = mutex{mine.it(), "held", {.lease = 1s}}.acquire();
    server.ask({"CONFIG", "SET", "maxmemory", "1"});
    mutex lock{mine.it(), "q"};
    auto const words = support::words_of([&] { return lock.try_acquire_for(500ms); });
    EXPECT_NE(words.find("raise maxmemory"), std::string::npos) << words;
    EXPECT_EQ(support::failure_of([&] { lock.lock(); }), errc::store_unavailable);
    EXPECT_TRUE(throughout(2s, [&] { return held.held(); })) << held.loss_reason();
    EXPECT_EQ(held.release(), release_outcome::released);
    server.ask({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_TRUE(lock.try_acquire_for(support::patience));
    EXPECT_TRUE(is_empty(server, 15s));
}

TEST(refusal_test, a_server_that_loads_is_waited_for) {
    redis_server server{{.arguments = {"--loading-process-events-interval-bytes", "1024",
                                       "--key-load-delay", "2000", "--rdbcompression", "no"}}};
    for (int i = 0; i < 800; ++i)
        server.ask({"SET", "filler" + std::to_string(i), std::string(200, 'x')});
    server.ask({"SAVE"});
    server.kill();
    server.start();
    listener mine{server.url()};
    mutex lock{mine.it(), "q"};
    auto const words = support::words_of([&] { return lock.try_acquire(); });
    EXPECT_NE(words.find("loading"), std::string::npos) << words;
    EXPECT_TRUE(lock.try_lock_for(support::patience));
    lock.unlock();
}

TEST(refusal_test, a_certificate_with_another_name_is_not_taken) {
    redis_server const server{{.tls = true}};
    expect_refusal(server.url() + "?servername=other.example&ca=" + server.authority(),
                   errc::store_unavailable, "certificate is not taken", patient);
}

TEST(refusal_test, a_server_that_speaks_something_else) {
    redis_server const server;
    proxy const babel{server.port(), 1, {.garble = 1}};
    auto const login = std::string{"redis://:"} + password + "@";
    auto const url = login + babel.url().substr(std::string{"redis://"}.size());
    expect_refusal(url, errc::store_unavailable, "127.0.0.1", patient);
}

TEST(refusal_test, no_server_at_all) {
    std::uint16_t port = 0;
    {
        redis_server const gone;
        port = gone.port();
    }
    auto const url = std::string{"redis://:"} + password + "@127.0.0.1:" + std::to_string(port);
    expect_refusal(url, errc::store_unavailable, "refused", patient);
    stopwatch const since;
    client hasty{url, {.patience = 300ms}};
    EXPECT_EQ(support::failure_of([&] { mutex{hasty, "q"}.lock(); }), errc::store_unavailable);
    EXPECT_GE(since.elapsed(), 250ms) << "it may yet come";
    EXPECT_LT(since.elapsed(), 5s);
}

// A layout of others has locks only. What it cannot do it refuses rather than to do nothing.
TEST(refusal_test, the_plain_layout_refuses_what_it_cannot_do) {
    redis_server const server;
    client mine{"redis://127.0.0.1:" + std::to_string(server.port()) + "?layout=plain"};
    auto const expect = [](char const* what, auto call) {
        std::string words;
        std::error_code found;
        try {
            call();
        } catch (std::system_error const& error) {
            words = error.what();
            found = error.code();
        }
        EXPECT_EQ(found, make_error_code(errc::unsupported)) << what << ": " << words;
    };
    election boss{mine, "boss"};
    expect("leader", [&] { (void)boss.leader(); });
    expect("observe", [&] { (void)boss.observe([](std::optional<leader_info> const&) {}); });
    mutex careful{mine, "q", {.detect_deadlock = true}};
    expect("lock", [&] { careful.lock(); });
    expect("try_acquire", [&] { (void)careful.try_acquire(); });
}

}  // namespace
}  // namespace holdfast::redis_faults
