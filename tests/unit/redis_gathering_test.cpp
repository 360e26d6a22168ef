// What goes out together, and what comes of it.
#include "unit/redis_gathering_fixture.hpp"

namespace holdfast::stores::redis {
namespace {

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

TEST_F(gathering_test, with_two_batches_under_way_the_next_one_gathers_until_one_is_answered) {
    auto const next = [&] {
        all_.send_when_due();
        return take();
    };
    auto const under_way = send_two_batches();
    submit("c");
    EXPECT_TRUE(next().empty());
    submit("d");
    EXPECT_TRUE(next().empty());
    reply(under_way.front(), many(1000, 2000, "11"));
    auto const sent = next();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_TRUE(sent.front().is_batch) << "they have become one";
    reply(sent.front(), many(1000, 2100, "11"));
    EXPECT_EQ(answered_, (std::vector<std::size_t>{0, 1, 4, 5}));
}

TEST_F(gathering_test, what_is_left_to_gather_has_its_time_from_when_it_goes) {
    auto const under_way = send_two_batches();
    submit("c");
    all_.send_when_due();
    ASSERT_TRUE(take().empty());
    auto const sent = send();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.front().give_up, answer_by_);
}

TEST_F(gathering_test, far_from_the_server_nobody_waits_for_others) {
    submit("a");
    submit("b");
    auto const first = send();
    ASSERT_EQ(first.size(), 1U);
    answer_by_ += std::chrono::milliseconds{20};  // so long was the way
    reply(first.front(), many(1000, 2000, "11"));
    auto const under_way = send_two_batches();
    submit("c");
    all_.send_when_due();
    EXPECT_EQ(take().size(), 1U);
}

TEST_F(gathering_test, a_name_that_others_use_has_nothing_to_wait_for) {
    submit("used");
    submit("free");
    auto const first = send();
    reply(first.front(), many(1000, 2000, "01"));
    (void)take();  // it is asked for by itself
    auto const under_way = send_two_batches();
    submit("used");
    all_.send_when_due();
    EXPECT_EQ(take().size(), 1U);
}

TEST_F(gathering_test, what_cannot_grow_does_not_wait) {
    auto const under_way = send_two_batches();
    for (int i = 0; i < 64; ++i)
        submit("n" + std::to_string(i));
    all_.send_when_due();
    EXPECT_EQ(take().size(), 1U) << "it is full";
    auto const slots = std::make_shared<slot_map>();
    native_layout const in_cluster{"holdfast:", self_, claim_secrets{1, 2}, slots};
    auto& one = requests_.emplace_back();
    one.answered = &answered_;
    auto work = in_cluster.begin(seam::submit{{claim("x")}, true, seam::store_time::max()});
    all_.add({.what = std::move(work->outbox.front()), .from = &one});
    all_.send_when_due();
    EXPECT_EQ(take().size(), 1U) << "names in slots hardly ever go together";
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

TEST_F(gathering_test, so_has_what_was_sent_away_before) {
    auto came_far = make(seam::submit{{claim("a")}, true, seam::store_time::max()});
    came_far.redirections = came_far.postponements = 1;
    came_far.travels_until = give_up_;
    all_.add(std::move(came_far));
    submit("b");
    reply(send()[0], many(1, 2, "01"));
    auto const left = take();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].give_up, answer_by_) << "others use the connection";
    EXPECT_EQ(left[0].travels_until, give_up_);
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
