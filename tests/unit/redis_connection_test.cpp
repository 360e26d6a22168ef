// What goes over one connection, and in which order, told by a server that answers what the test says.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stores/redis/connection.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/pending_request.hpp"
#include "stores/redis/scripts.hpp"
#include "support/raw_server.hpp"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;
using strings = std::vector<std::string>;

/// Takes commands apart as they come. Thread-safety: one thread feeds, another takes.
class command_reader {
public:
    void feed(std::string_view bytes) {
        std::lock_guard const held{mutex_};
        buffer_ += bytes;
        while (auto one = next())
            commands_.push_back(shown(*one));
    }
    [[nodiscard]] std::size_t size() const {
        std::lock_guard const held{mutex_};
        return commands_.size();
    }
    [[nodiscard]] strings take() {
        std::lock_guard const held{mutex_};
        return std::exchange(commands_, {});
    }

private:
    /// One whole command; nothing while it is not all there.
    std::optional<strings> next() {
        std::size_t at = 0;
        auto const number = [&]() -> std::optional<std::size_t> {
            auto const end = buffer_.find("\r\n", at);
            if (end == std::string::npos) return std::nullopt;
            auto const out = std::stoul(buffer_.substr(at + 1, end - at - 1));
            at = end + 2;
            return out;
        };
        auto const count = number();
        if (!count) return std::nullopt;
        strings out;
        for (std::size_t i = 0; i < *count; ++i) {
            auto const length = number();
            if (!length || buffer_.size() < at + *length + 2) return std::nullopt;
            out.push_back(buffer_.substr(at, *length));
            at += *length + 2;
        }
        buffer_.erase(0, at);
        return out;
    }

    /// The script and the names in its keys, or the verb.
    static std::string shown(strings const& all) {
        if (all[0] != "EVALSHA") return all[0];
        std::string out = "?";
        for (auto const* const each : {&scripts::submit, &scripts::settle, &scripts::many,
                                       &scripts::adjust, &scripts::renew, &scripts::inspect})
            if (all[1] == each->sha) out = each->name;
        auto const keys = std::stoul(all[2]);
        for (std::size_t i = 3; i < 3 + keys; ++i)
            if (all[i].starts_with("holdfast:name:{") && all[i].ends_with('}'))
                out += " " + all[i].substr(15, all[i].size() - 16);
        return out;
    }

    mutable std::mutex mutex_;  ///< guards what follows
    std::string buffer_;
    strings commands_;
};

class redis_connection : public testing::Test, connection::watcher, pending_request::owner {
protected:
    redis_connection() {
        line_.send(command{"TIME"}, ready_, 0, base::boot_clock::now());
        EXPECT_EQ(sent(2), (strings{"CLIENT", "TIME"}));
        say("+OK\r\n+OK\r\n");
        EXPECT_TRUE(until([&] { return ready_.answered; }));
    }

    seam::claim claim(std::string name) {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = std::move(name);
        spec->hash = std::hash<std::string>{}(spec->name);
        return {std::move(spec), {self_.id, ++last_}, {}};
    }

    /// Queues a request: nothing is written before `sent`.
    std::size_t begin(seam::request what, std::chrono::seconds within = 15s) {
        auto const number = requests_.size();
        pending_request::owner& told = *this;
        requests_.push_back(std::make_unique<pending_request>(told, layout_.begin(std::move(what)),
                                                              seam::request_id{number}));
        replies_.emplace_back();
        requests_.back()->send(base::boot_clock::now() + within);
        return number;
    }
    std::size_t submit(std::string name) {
        return begin(seam::submit{{claim(std::move(name))}, true, seam::store_time::max()});
    }
    std::size_t settle(std::string name) { return begin(seam::settle{{claim(std::move(name))}}); }

    template <class Condition>
    bool until(Condition is_so) {
        auto const end = base::boot_clock::now() + 20s;
        while (!is_so() && base::boot_clock::now() < end) {
            auto now = base::boot_clock::now();
            line_.tend(now);
            line_.flush(now);
            bool const ready = !events_.wait(now + 5ms).empty();
            if (ready || line_.has_more()) line_.on_ready(base::boot_clock::now());
        }
        return is_so();
    }

    /// What the server has got since the last time, once it is as many commands.
    strings sent(std::size_t count) {
        EXPECT_TRUE(until([&] { return got_.size() >= count; })) << "of " << count;
        return got_.take();
    }
    void say(std::string_view answer) const { peer_->send(answer); }
    /// Writes what may be written, and sees that the server gets none of it but a mark of our own.
    bool sends_nothing() {
        line_.flush(base::boot_clock::now());
        line_.tell(command{"PING"});
        return sent(1) == strings{"PING"};
    }
    /// The answer is read before anything else is written.
    void hear(std::string_view answer) {
        say(answer);
        (void)events_.wait(base::boot_clock::now() + 20s);
        line_.on_ready(base::boot_clock::now());
    }

    [[nodiscard]] bool is_answered(std::size_t which) const { return replies_[which].has_value(); }
    [[nodiscard]] bool has_failed(std::size_t which) const {
        return is_answered(which) && std::holds_alternative<seam::failure>(replies_[which]->body);
    }

    static std::string many(std::uint64_t first, std::string const& done) {
        return "*3\r\n:1000\r\n$" + std::to_string(std::to_string(first).size()) + "\r\n" +
               std::to_string(first) + "\r\n$" + std::to_string(done.size()) + "\r\n" + done +
               "\r\n";
    }

private:
    struct first_asker final : asker {
        bool answered{false};
        void on_answer(std::size_t, answer const&, seam::clock_id) override { answered = true; }
        void on_failure(std::size_t, base::error const& why) override { ADD_FAILURE() << why.text; }
    };

    void send(question what) override { line_.send(std::move(what), base::boot_clock::now()); }
    void on_answered(pending_request& request, seam::clock_id) override {
        if (!request.is_answered()) return;
        auto& reply = replies_[static_cast<std::size_t>(*request.id())];
        EXPECT_FALSE(reply) << "answered twice";
        reply = request.close();
    }
    void on_open() override {}
    void on_push(answer const&) override { throw garbled{"nobody asked"}; }
    void on_break(base::error const& why) override { broken_ = why.text; }
    bool takes_over(question& what, std::string_view) override {
        if (!in_cluster_) return false;
        taken_over_.push_back(std::move(what));
        return true;
    }

    [[nodiscard]] std::shared_ptr<settings const> target() const {
        return std::make_shared<settings const>(
            settings::parse(base::url::parse(there_.url("?timeout=15s"))));
    }

    command_reader got_;
    support::raw_socket const* peer_{nullptr};  ///< from the first command on
    support::raw_server there_{[this](support::raw_socket const& from) {
        peer_ = &from;
        for (auto bytes = from.receive(); !bytes.empty(); bytes = from.receive())
            got_.feed(bytes);
    }};
    first_asker ready_;
    seam::identity self_{seam::client_id{1}, "here", 1, ""};
    native_layout layout_{"holdfast:", self_, claim_secrets{1, 2}};
    std::vector<std::unique_ptr<pending_request>> requests_;
    std::vector<std::optional<seam::reply>> replies_;
    std::uint64_t last_{0};
    net::poller events_;
    std::string broken_;

protected:
    connection line_{target(), "test", *this, events_, 1, 1};
    [[nodiscard]] std::string const& broken() const noexcept { return broken_; }
    bool in_cluster_{false};
    std::vector<question> taken_over_;
};

TEST_F(redis_connection, tokens_that_nobody_can_count_end_it_and_all_are_told) {
    auto const one = submit("a");
    auto const two = submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say(many(1ULL << 53, "11"));
    EXPECT_TRUE(until([&] { return has_failed(one) && has_failed(two); }));
    EXPECT_NE(broken().find("does not speak as Redis does"), std::string::npos) << broken();
}

TEST_F(redis_connection, a_batch_of_which_half_an_answer_came_is_in_doubt) {
    auto const one = submit("a");
    auto const two = settle("b");
    ASSERT_EQ(sent(1), strings{"many b a"});
    auto const behind = submit("a");
    hear("*3\r\n:1000\r\n:2000\r\n$2\r\n1");
    EXPECT_FALSE(is_answered(one) || is_answered(two) || is_answered(behind));
    line_.cut({errc::store_unavailable, "cut"}, base::boot_clock::now());
    for (auto const each : {one, two, behind})
        EXPECT_TRUE(has_failed(each)) << each;
    EXPECT_EQ(line_.unanswered(), 0U);
}

TEST_F(redis_connection, a_batch_is_waited_for_no_longer_than_the_first_of_it) {
    auto const one = begin(seam::submit{{claim("a")}, true, seam::store_time::max()}, 5s);
    auto const two = settle("b");
    ASSERT_EQ(sent(1), strings{"many b a"});
    auto const now = base::boot_clock::now();
    EXPECT_LE(line_.next_due(), now + 5s);
    line_.tend(now + 4s);
    EXPECT_FALSE(is_answered(one) || is_answered(two));
    line_.tend(now + 6s);
    EXPECT_TRUE(has_failed(one) && has_failed(two));
    EXPECT_NE(broken().find("no answer within"), std::string::npos) << broken();
}

TEST_F(redis_connection, what_does_not_gather_waits_for_a_settlement_of_its_name) {
    settle("a");
    submit("b");
    auto const limits = begin(seam::adjust{.subject = claim("a")});
    ASSERT_EQ(sent(1), strings{"many a b"});
    EXPECT_TRUE(sends_nothing()) << "the settlement may be left";
    say(many(1, "01"));
    EXPECT_EQ(sent(2), (strings{"settle a", "adjust a"}));
    EXPECT_FALSE(is_answered(limits));
}

TEST_F(redis_connection, renewals_wait_for_nobody) {
    settle("a");
    submit("b");
    begin(seam::renew{{{claim("a"), 1s}}});
    EXPECT_EQ(sent(2), (strings{"many a b", "renew a"}));
}

TEST_F(redis_connection, a_server_that_carries_out_no_batches_changes_no_order) {
    settle("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    settle("c");
    submit("d");
    ASSERT_EQ(sent(1), strings{"many c d"});
    submit("c");  // waits for the second batch
    EXPECT_TRUE(sends_nothing());
    say("-NOPERM this user has no permissions to run the 'mget' command\r\n");
    EXPECT_EQ(sent(2), (strings{"settle a", "submit b"}));
    settle("c");
    EXPECT_TRUE(sends_nothing()) << "it has to wait behind the submit";
    say("-NOPERM this user has no permissions to run the 'mget' command\r\n");
    EXPECT_EQ(sent(4), (strings{"settle c", "submit d", "submit c", "settle c"}));
    submit("e");
    settle("f");
    EXPECT_EQ(sent(2), (strings{"submit e", "settle f"}));
}

TEST_F(redis_connection, a_script_that_is_forgotten_changes_no_order) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    settle("c");  // still waits to be written when the answers come
    hear("-NOSCRIPT No matching script.\r\n" + many(1, "01"));
    EXPECT_EQ(sent(4), (strings{"SCRIPT", "settle a", "submit a", "settle c"}));
}

TEST_F(redis_connection, what_is_not_yet_written_stays_behind_a_call_whose_script_is_loaded) {
    settle("a");
    ASSERT_EQ(sent(1), strings{"settle a"});
    submit("a");
    hear("-NOSCRIPT No matching script.\r\n");
    EXPECT_EQ(sent(3), (strings{"SCRIPT", "settle a", "submit a"}));
}

// Words as Redis 7 says them, and as Redis 6.2 wraps them.
TEST_F(redis_connection, trouble_that_passes_does_not_end_batches) {
    for (std::string const words :
         {"OOM command not allowed when used memory > 'maxmemory'.",
          "NOREPLICAS Not enough good replicas to write.",
          "MISCONF Redis is configured to save RDB snapshots", "LOADING Redis is loading",
          "ERR Error running script (call to f_1): @user_script:52: @user_script: 52: -READONLY",
          "ERR Error running script (call to f_1): Script killed by user with SCRIPT KILL..."}) {
        submit("a");
        submit("b");
        ASSERT_EQ(sent(1), strings{"many a b"}) << words;
        say("-" + words + "\r\n");
        EXPECT_EQ(sent(2), (strings{"submit a", "submit b"})) << words;
        say(":5\r\n:5\r\n");
        ASSERT_TRUE(until([&] { return line_.unanswered() == 0; }));
    }
}

TEST_F(redis_connection, a_batch_for_another_server_goes_there_without_a_second_question) {
    in_cluster_ = true;
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    hear("-MOVED 1 127.0.0.1:7000\r\n");
    EXPECT_EQ(taken_over_.size(), 2U);
    EXPECT_TRUE(sends_nothing());
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"})) << "each has fewer keys";
}

class redis_without_batches : public redis_connection,
                              public testing::WithParamInterface<std::string> {};

TEST_P(redis_without_batches, is_asked_for_none_again) {
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say("-" + GetParam() + "\r\n");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"}));
    say(":5\r\n:5\r\n");
    submit("a");
    submit("b");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"}));
}

INSTANTIATE_TEST_SUITE_P(
    words, redis_without_batches,
    testing::Values(
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "ERR ACL failure in script: User x has no permissions to run the 'mget' command "
        "script: 1, on @user_script:52.",
        "ERR Error running script (call to f_1): @user_script:52: @user_script: 52: "
        "-NOPERM The user executing the script can't run this command or subcommand",
        "ERR Error running script (call to f_1): @user_script:52: @user_script: 52: "
        "Unknown Redis command called from Lua script",
        "ERR unknown command 'EVALSHA', with args beginning with: ",
        "CROSSSLOT Keys in request don't hash to the same slot"));

TEST_F(redis_connection, a_server_that_does_not_take_the_script_of_batches_is_asked_for_none) {
    submit("a");
    submit("b");
    ASSERT_EQ(sent(1), strings{"many a b"});
    say("-NOSCRIPT No matching script.\r\n");
    ASSERT_EQ(sent(2), (strings{"SCRIPT", "many a b"}));
    say("-ERR Error compiling script (new function): user_script:1: '=' expected\r\n"
        "-NOSCRIPT No matching script.\r\n");
    EXPECT_EQ(sent(2), (strings{"submit a", "submit b"}));
    submit("c");
    submit("d");
    EXPECT_EQ(sent(2), (strings{"submit c", "submit d"}));
}

}  // namespace
}  // namespace holdfast::stores::redis
