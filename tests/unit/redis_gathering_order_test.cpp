// In which order requests of one name take effect, whatever goes out together.
#include <map>
#include <set>

#include "base/random.hpp"
#include "unit/redis_gathering_fixture.hpp"

namespace holdfast::stores::redis {
namespace {

/// Random requests of few names, some of which look alike, and a server that carries out what has come first, and of
/// a batch whatever it likes.
class gathering_order_test : public gathering_test,
                             public ::testing::WithParamInterface<std::uint64_t> {
protected:
    void put() {
        auto const& name = asked_.emplace_back(names_[random_.below(names_.size())]);
        auto const about = claim(name);
        switch (random_.below(5)) {
        case 0: return put(make(seam::adjust{.subject = about}));
        case 1:
        case 2: return put(make(seam::settle{about}));
        default: return put(make(seam::submit{about, true, seam::store_time::max()}));
        }
    }

    /// Answers the first call that is under way.
    void serve() {
        if (sent_.empty()) return;
        auto first = std::move(sent_.front());
        sent_.erase(sent_.begin());
        if (!first.is_batch) {
            answer usual;
            usual.add(answer::kind::integer, 5);
            if (first.what.piece.gathers) all_.learn(first.what, usual);
            return reply(first, usual);
        }
        if (random_.below(10) == 0) {
            if (random_.below(5) == 0) all_.switch_off();
            for (auto& each : all_.take_apart(first))
                send_alone(std::move(each));
            return;
        }
        reply(first, many(1, 2, choice(first)));
    }

    [[nodiscard]] bool is_idle() const { return all_.size() == 0 && sent_.empty(); }
    void flush() { random_.below(2) == 0 ? all_.send() : all_.send_when_due(); }
    void begin_again() { all_.cut({errc::store_unavailable, "nothing is under way"}); }

    void check() const {
        ASSERT_EQ(answered_.size(), asked_.size());
        std::map<std::string, std::size_t> last;
        for (auto const which : answered_) {
            auto const [found, fresh] = last.try_emplace(asked_[which], which);
            ASSERT_TRUE(fresh || found->second < which)
                << "of " << asked_[which] << " " << which << " came behind " << found->second;
            found->second = which;
        }
    }

    base::random random_{GetParam()};

private:
    /// As the connection does it.
    void put(question what) {
        what.what.concerns(hash_of(asked_.back()));
        if (all_.takes(what)) return all_.add(std::move(what));
        all_.send();
        if (all_.holds_back(what)) return all_.add(std::move(what));
        send_alone(std::move(what));
    }

    /// A digit for each. A submit cannot be carried out where the settlement before it was left.
    std::string choice(question& batch) {
        std::vector<std::string>
            arguments;  // up to the number of settlements there are no line ends in them
        std::string const bytes{batch.what.bytes()};
        for (std::size_t at = bytes.find("\r\n"); at != std::string::npos;) {
            auto const from = bytes.find("\r\n", at + 2);
            if (from == std::string::npos) break;
            at = bytes.find("\r\n", from + 2);
            arguments.push_back(bytes.substr(from + 2, at - from - 2));
        }
        auto const keys = std::stoul(arguments[2]);
        auto const ends = std::stoul(arguments[3 + keys]);
        std::set<std::string> left;
        std::string out;
        for (std::size_t i = 0; i + 1 < keys; ++i) {
            auto const& record = arguments[4 + i];
            bool const leaves = random_.below(3) == 0 || (i >= ends && left.contains(record));
            if (leaves) left.insert(record);
            out += leaves ? '0' : '1';
        }
        return out;
    }

    std::vector<std::string> names_{"same 1", "same 2", "same 3", "x", "y", "z"};
    std::vector<std::string> asked_;  ///< the name of each request
};

TEST_P(gathering_order_test, each_name_keeps_its_order_whatever_the_server_leaves) {
    for (int rounds = 20; rounds > 0; --rounds) {
        for (int steps = 300; steps > 0; --steps) {
            auto const what = random_.below(8);
            what == 0 ? flush() : what < 3 ? serve() : put();
        }
        while (!is_idle()) {
            flush();
            serve();
        }
        begin_again();
    }
    check();
}

INSTANTIATE_TEST_SUITE_P(seeds, gathering_order_test, ::testing::Range<std::uint64_t>(1, 21));

TEST_F(gathering_test, what_is_left_is_asked_alone_in_the_old_order) {
    auto const ended = settle("a");
    auto const wanted = submit("a");
    auto const other = submit("b");
    auto const out = send();
    ASSERT_EQ(out.size(), 1U);
    reply(out[0], many(1, 2, "001"));
    EXPECT_EQ(answered_, std::vector{other});
    auto const again = take();
    ASSERT_EQ(again.size(), 2U);
    EXPECT_EQ(alone(again[0]), ended);
    EXPECT_EQ(alone(again[1]), wanted);
}

TEST_F(gathering_test, requests_of_one_name_do_not_overtake_each_other) {
    submit("a");
    submit("b");
    auto const first = send();
    ASSERT_EQ(first.size(), 1U);
    auto const ended = settle("a");
    auto const out = send();
    EXPECT_TRUE(out.empty()) << "the submit before it may have been left";
    EXPECT_EQ(all_.size(), 3U);
    reply(first[0], many(1, 2, "01"));
    auto const left = take();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(alone(left[0]), 0U);
    auto const then = send();
    ASSERT_EQ(then.size(), 1U);
    EXPECT_EQ(alone(then[0]), ended);
}

TEST_F(gathering_test, only_a_submit_may_follow_a_settlement_of_its_name_in_one_call) {
    auto const wanted = submit("a");
    settle("a");
    settle("b");
    submit("b");
    submit("b");
    submit("c");
    auto const out = send();
    ASSERT_EQ(out.size(), 1U);
    reply(out[0], many(1, 2, "1111"));
    EXPECT_EQ(answered_.size(), 4U);
    EXPECT_TRUE(requests_[wanted].got);
    EXPECT_FALSE(requests_[1].got) << "the settlement behind the submit waits";
    EXPECT_FALSE(requests_[4].got) << "and so does a second submit";
    EXPECT_EQ(send().size(), 1U);
}

TEST_F(gathering_test, two_names_that_look_alike_keep_their_order_each) {
    auto const other = settle("same 1");
    auto const ended = settle("same 2");
    auto const wanted = submit("same 2");
    auto out = send();
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(alone(out[0]), other);
    out = send();
    ASSERT_EQ(out.size(), 1U);
    ASSERT_TRUE(out[0].is_batch);
    reply(out[0], many(1, 2, "11"));
    EXPECT_EQ(answered_, (std::vector{ended, wanted}));
}

TEST_F(gathering_test, a_submit_does_not_overtake_a_settlement_that_waits) {
    auto const first = settle("a");
    auto const second = settle("a");
    auto const wanted = submit("a");
    auto out = send();
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(alone(out[0]), first) << "the submit has a settlement before it";
    out = send();
    ASSERT_EQ(out.size(), 1U);
    ASSERT_TRUE(out[0].is_batch);
    reply(out[0], many(1, 2, "11"));
    EXPECT_EQ(answered_, (std::vector{second, wanted}));
}

}  // namespace
}  // namespace holdfast::stores::redis
