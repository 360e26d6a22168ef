// What goes out together, and in which order requests of one name take effect.
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "stores/redis/gathering.hpp"
#include "stores/redis/native_layout.hpp"
#include "stores/redis/scripts.hpp"

namespace holdfast::stores::redis {
namespace {

class gathering_test : public ::testing::Test, gathering::owner {
protected:
    struct request final : asker {
        std::size_t number{0};
        std::vector<std::size_t>* answered{nullptr};
        std::optional<answer> got{};
        std::optional<base::error> failed{};
        bool was_cut{false};
        bool rejects{false};  ///< whatever it is answered

        void on_answer(std::size_t, answer const& what, seam::clock_id) override {
            EXPECT_FALSE(got || failed) << "answered twice";
            if (rejects) throw garbled{"rejected"};
            got = what;
            answered->push_back(number);
        }
        void on_failure(std::size_t, base::error const& why) override {
            EXPECT_FALSE(got || failed) << "answered twice";
            failed = why;
        }
        void on_cut(std::size_t which, base::error const& why) override {
            was_cut = true;
            on_failure(which, why);
        }
    };

    /// Those whose names begin with "same" differ in nothing but the upper half.
    static std::size_t hash_of(std::string const& name) {
        auto const hash = std::hash<std::string>{}(name);
        return name.starts_with("same") ? (hash >> 32 << 32) + 7 : hash;
    }
    seam::claim claim(std::string name) {
        auto spec = std::make_shared<seam::claim_spec>();
        spec->name = std::move(name);
        spec->hash = hash_of(spec->name);
        return {std::move(spec), {self_.id, ++last_}, {}};
    }

    question make(seam::request what) {
        auto& one = requests_.emplace_back();
        one.number = requests_.size() - 1;
        one.answered = &answered_;
        auto work = layout_.begin(std::move(what));
        return {.what = std::move(work->outbox.front()), .from = &one, .give_up = give_up_};
    }
    std::size_t add(seam::request what) {
        auto asked = make(std::move(what));
        EXPECT_TRUE(all_.takes(asked));
        all_.add(std::move(asked));
        return requests_.back().number;
    }
    std::size_t submit(std::string name) {
        return add(seam::submit{{claim(std::move(name))}, true, seam::store_time::max()});
    }
    std::size_t settle(std::string name) { return add(seam::settle{{claim(std::move(name))}}); }

    void send_alone(question what) override { sent_.push_back(std::move(what)); }
    [[nodiscard]] base::instant answer_by() const override { return answer_by_; }

    /// What was sent, taken away.
    std::vector<question> take() { return std::exchange(sent_, {}); }
    std::vector<question> send() {
        all_.send();
        return take();
    }
    /// The requests that a question stands for: only that of a single one is known.
    [[nodiscard]] std::optional<std::size_t> alone(question const& what) const {
        if (what.is_batch) return std::nullopt;
        return static_cast<request const*>(what.from)->number;
    }

    static answer many(std::int64_t now, std::int64_t first, std::string_view done) {
        answer out;
        out.add(answer::kind::array, 3);
        out.add(answer::kind::integer, now);
        out.add(answer::kind::integer, first);
        out.add(answer::kind::text, done);
        return out;
    }
    static void reply(question const& to, answer const& what) {
        to.from->on_answer(to.which, what, seam::clock_id{7});
    }

    seam::identity self_{seam::client_id{1}, "here", 1, ""};
    native_layout layout_{"holdfast:", self_, claim_secrets{1, 2}};
    gathering all_{*this};
    std::deque<request> requests_;
    std::vector<std::size_t> answered_;
    std::vector<question> sent_;
    base::instant give_up_{std::chrono::seconds{100}};    ///< of what is added
    base::instant answer_by_{std::chrono::seconds{200}};  ///< of what is sent later
    std::uint64_t last_{0};
};

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
    void flush() { all_.send(); }
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

TEST_F(gathering_test, one_alone_goes_as_it_is) {
    auto const one = submit("a");
    auto const out = send();
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(alone(out[0]), one);
    EXPECT_EQ(out[0].what.calls(), &scripts::submit);
    EXPECT_EQ(all_.size(), 0U);
}

TEST_F(gathering_test, two_go_as_one_call_and_each_is_answered) {
    auto const granted = submit("a");
    auto const ended = settle("b");
    auto const next = submit("c");
    EXPECT_EQ(all_.size(), 3U);
    auto const out = send();
    ASSERT_EQ(out.size(), 1U);
    ASSERT_TRUE(out[0].is_batch);
    EXPECT_EQ(out[0].what.calls(), &scripts::many);
    EXPECT_EQ(all_.size(), 3U) << "they are under way";
    reply(out[0], many(1000, 2000, "111"));
    EXPECT_EQ(all_.size(), 0U);
    answer_reader first{*requests_[granted].got};
    EXPECT_EQ(first.array(), 3U);
    EXPECT_EQ(first.number(), 1000U);
    EXPECT_EQ(first.text(), "alone");
    EXPECT_EQ(first.number(), 2000U);
    answer_reader second{*requests_[next].got};
    second.array();
    second.skip();
    second.skip();
    EXPECT_EQ(second.number(), 2001U);
    EXPECT_EQ(answer_reader{*requests_[ended].got}.integer(), 1000);
}

TEST_F(gathering_test, the_call_has_the_mark_the_records_and_the_terms) {
    submit("a");
    settle("b");
    auto out = send();
    std::string const bytes{out[0].what.bytes()};
    auto const at = [&](std::string_view text) {
        auto const found = bytes.find(text);
        EXPECT_NE(found, std::string::npos) << text << " in " << bytes;
        return found;
    };
    EXPECT_EQ(bytes.find("*12\r\n"), 0U) << bytes;
    EXPECT_LT(at("$1\r\n3\r\n"), at("$13\r\nholdfast:mark\r\n"));
    EXPECT_LT(at("holdfast:mark"), at("$17\r\nholdfast:name:{b}\r\n"));
    EXPECT_LT(at("{b}"), at("$17\r\nholdfast:name:{a}\r\n")) << "settlements come first";
    EXPECT_LT(at("{a}"), at("$1\r\n1\r\n"));
    EXPECT_EQ(bytes.find(":claims"), std::string::npos);
}

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

TEST_F(gathering_test, a_name_that_others_use_goes_alone_until_it_is_free_of_them) {
    submit("a");
    submit("b");
    reply(send()[0], many(1, 2, "01"));
    (void)take();
    auto const one = submit("a");
    submit("c");
    submit("d");
    auto out = send();
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(alone(out[0]), one);
    EXPECT_TRUE(out[1].is_batch);
    answer usual;
    usual.add(answer::kind::integer, 5);
    all_.learn(out[0].what, usual);
    submit("a");
    submit("e");
    out = send();
    ASSERT_EQ(out.size(), 1U);
    EXPECT_TRUE(out[0].is_batch);
    answer queued;
    queued.add(answer::kind::array, 0);
    auto const held = submit("f");
    auto const alone_too = send();
    ASSERT_EQ(alone_too.size(), 1U);
    all_.learn(alone_too[0].what, queued);
    auto const next = submit("f");
    submit("g");
    out = send();
    ASSERT_EQ(out.size(), 2U) << "what is queued has others about it";
    EXPECT_EQ(alone(out[0]), next);
    EXPECT_NE(held, next);
}

TEST_F(gathering_test, a_lone_grant_says_that_nobody_else_is_there) {
    submit("a");
    auto out = send();
    answer lone;
    lone.add(answer::kind::array, 3);
    lone.add(answer::kind::integer, 5);
    lone.add(answer::kind::text, "alone");
    lone.add(answer::kind::integer, 6);
    all_.learn(out[0].what, lone);
    submit("a");
    submit("b");
    EXPECT_TRUE(send()[0].is_batch);
}

TEST_F(gathering_test, a_name_that_others_use_says_nothing_of_one_that_looks_like_it) {
    submit("same 1");
    submit("b");
    reply(send()[0], many(1, 2, "01"));
    auto const left = take();
    ASSERT_EQ(left.size(), 1U);
    submit("same 2");
    submit("c");
    auto out = send();
    ASSERT_EQ(out.size(), 1U) << "only the first is used by others";
    ASSERT_TRUE(out[0].is_batch);
    reply(out[0], many(1, 2, "11"));
    submit("same 2");
    auto const free = send();
    answer usual;
    usual.add(answer::kind::integer, 5);
    all_.learn(free[0].what, usual);
    auto const again = submit("same 1");
    submit("d");
    submit("e");
    out = send();
    ASSERT_EQ(out.size(), 2U) << "and still is";
    EXPECT_EQ(alone(out[0]), again);
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

TEST_F(gathering_test, slots_are_not_mixed) {
    auto slots = std::make_shared<slot_map>();
    native_layout const in_cluster{"holdfast:", self_, claim_secrets{1, 2}, slots};
    for (auto const* const name : {"a", "b", "a1{x}", "c"}) {
        auto& one = requests_.emplace_back();
        one.answered = &answered_;
        auto work = in_cluster.begin(seam::submit{{claim(name)}, true, seam::store_time::max()});
        all_.add({.what = std::move(work->outbox.front()), .from = &one});
    }
    auto const out = send();
    EXPECT_EQ(out.size(), 4U);
    for (auto const& each : out)
        EXPECT_FALSE(each.is_batch);
}

TEST_F(gathering_test, a_call_has_a_limit) {
    constexpr int count = 200;
    for (int i = 0; i < count; ++i)
        submit("n" + std::to_string(i));
    std::size_t largest = 0;
    for (auto& each : send())
        largest = std::max(largest, each.what.bytes().size());
    EXPECT_GE(largest, 2000U);
    EXPECT_LE(largest, 64U << 10);
}

TEST_F(gathering_test, a_batch_that_is_refused_is_asked_one_by_one) {
    submit("a");
    settle("b");
    auto out = send();
    out = all_.take_apart(out[0]);
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(alone(out[0]), 1U) << "settlements came first";
    EXPECT_EQ(all_.size(), 0U);
    EXPECT_TRUE(answered_.empty());
    submit("a");
    settle("b");
    out = send();
    ASSERT_EQ(out.size(), 1U);
    (void)all_.take_apart(out[0]);
    all_.switch_off();
    auto work = layout_.begin(seam::settle{{claim("a")}});
    question const next{.what = std::move(work->outbox.front())};
    EXPECT_FALSE(all_.takes(next)) << "the server does not carry it out";
    all_.cut({errc::store_unavailable, "gone"});
    EXPECT_TRUE(all_.takes(next)) << "another one may";
}

TEST_F(gathering_test, when_the_connection_ends_all_fail) {
    submit("a");
    submit("b");
    auto const out = send();
    submit("c");
    base::error const why{errc::store_unavailable, "gone"};
    all_.cut(why);
    out[0].from->on_cut(0, why);
    EXPECT_EQ(all_.size(), 0U);
    for (auto const& each : requests_)
        EXPECT_TRUE(each.was_cut) << each.number;
}

TEST_F(gathering_test, an_answer_that_makes_no_sense_is_no_answer) {
    submit("a");
    submit("b");
    auto const out = send();
    EXPECT_THROW(reply(out[0], many(1, 2, "1")), garbled);
    EXPECT_THROW(reply(out[0], many(1, 2, "1x")), garbled);
    EXPECT_TRUE(answered_.empty());
    out[0].from->on_failure(0, {errc::store_unavailable, "garbled"});
    for (auto const& each : requests_)
        EXPECT_TRUE(each.failed) << each.number;
}

TEST_F(gathering_test, tokens_beyond_what_a_script_counts_are_no_answer) {
    submit("a");
    submit("b");
    auto const out = send();
    EXPECT_THROW(reply(out[0], many(1, std::int64_t{1} << 53, "11")), garbled);
    EXPECT_TRUE(answered_.empty()) << "not even the one that could be counted";
    out[0].from->on_failure(0, {errc::store_unavailable, "garbled"});
    for (auto const& each : requests_)
        EXPECT_TRUE(each.failed) << each.number;
}

TEST_F(gathering_test, one_that_rejects_its_answer_harms_no_other) {
    auto const wrong = submit("a");
    auto const left = submit("b");
    auto const fine = submit("c");
    requests_[wrong].rejects = true;
    auto const out = send();
    EXPECT_THROW(reply(out[0], many(1, 2, "101")), garbled);
    EXPECT_TRUE(requests_[wrong].failed);
    EXPECT_TRUE(requests_[fine].got);
    auto const again = take();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(alone(again[0]), left);
    out[0].from->on_failure(0, {errc::store_unavailable, "as the connection does"});
    EXPECT_EQ(all_.size(), 0U);
    EXPECT_FALSE(requests_[left].failed) << "it is asked, and told by its own answer";
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

TEST_F(gathering_test, a_call_has_the_first_of_its_deadlines) {
    auto const first = give_up_;
    submit("a");
    give_up_ += std::chrono::seconds{1};
    settle("b");
    auto const out = send();
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(out[0].give_up, first);
}

TEST_F(gathering_test, what_is_asked_later_has_its_time_from_then_on) {
    submit("a");
    submit("b");
    auto const first = send();
    settle("a");
    settle("c");
    settle("d");
    auto const second = send();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].give_up, give_up_);
    reply(first[0], many(1, 2, "01"));
    auto const left = take();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].give_up, answer_by_) << "the server has just answered";
    auto const behind = send();
    ASSERT_EQ(behind.size(), 1U);
    EXPECT_EQ(behind[0].give_up, answer_by_) << "it was never sent before";
    auto const apart = all_.take_apart(second[0]);
    EXPECT_EQ(apart.size(), 2U);
    for (auto const& each : apart)
        EXPECT_EQ(each.give_up, answer_by_);
}

TEST_F(gathering_test, what_wants_more_than_the_usual_goes_alone) {
    auto const takes = [&](seam::request what) {
        auto work = layout_.begin(std::move(what));
        return all_.takes({.what = std::move(work->outbox.front())});
    };
    auto const mine = claim("a");
    EXPECT_TRUE(takes(seam::settle{mine}));
    EXPECT_FALSE(takes(seam::settle{.subject = mine, .keep_for = std::chrono::milliseconds{1}}));
    EXPECT_FALSE(takes(seam::settle{.subject = mine, .consume = true}));
    EXPECT_FALSE(takes(seam::settle{.subject = mine,
                                    .tombstone_until = seam::store_time{std::chrono::seconds{1}}}));
    EXPECT_FALSE(takes(seam::hello{}));
    EXPECT_FALSE(takes(seam::renew{{{mine, std::chrono::milliseconds{1}}}}));
    auto spec = std::make_shared<seam::claim_spec>();
    spec->name = "a";
    spec->kind = lock_kind::condition;
    EXPECT_FALSE(takes(seam::submit{.subject = {spec, {self_.id, 1}, {}}, .queue = true}));
}

}  // namespace
}  // namespace holdfast::stores::redis
