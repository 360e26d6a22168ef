// Parts that need no server: keys, faults, versions, signs of life, looks at sessions.
#include <gtest/gtest.h>

#include "stores/etcd/fault.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/lease_times.hpp"
#include "stores/etcd/look.hpp"
#include "stores/etcd/session_looks.hpp"
#include "stores/etcd/signs_of_life.hpp"
#include "stores/etcd/transaction.hpp"
#include "stores/etcd/versions.hpp"

namespace holdfast::stores::etcd {

namespace {

settings const somewhere = settings::parse(base::url::parse("etcd://anna:s3cret@a"));

fault judged(grpc::StatusCode code, std::string const& words) {
    return judge({code, words}, "a:2379", somewhere);
}

TEST(etcd_lease_times, a_lease_never_begins_in_the_future) {
    using std::chrono::seconds;
    EXPECT_EQ(passed_of_lease(10, 7), seconds{3});
    EXPECT_EQ(passed_of_lease(10, 10), seconds{0});
    EXPECT_EQ(passed_of_lease(10, 14), seconds{0}) << "a new leader has added some";
    EXPECT_EQ(passed_of_lease(10, 9'223'372'036), std::nullopt) << "a leader that is none any more";
    EXPECT_EQ(passed_of_lease(10, 0), std::nullopt);
}

using compare::kept;
using compare::session_id;

sign_of_life sign(std::int64_t ttl, std::uint64_t term) {
    wire::LeaseKeepAliveResponse answer;
    answer.set_id(7);
    answer.set_ttl(ttl);
    answer.mutable_header()->set_raft_term(term);
    return signs_of({session_id{7}}, {answer}).front();
}

TEST(etcd_signs_of_life, count_when_a_majority_follows_the_leader_who_took_them) {
    EXPECT_EQ(judge(sign(5, 3), true, 3), kept::state::alive);
    EXPECT_EQ(judge(sign(5, 3), true, 4), kept::state::unknown)
        << "another one counts the lease now";
    EXPECT_EQ(judge(sign(5, 4), true, 3), kept::state::unknown);
    EXPECT_EQ(judge(sign(5, 3), true, 0), kept::state::unknown) << "several have answered";
    EXPECT_EQ(judge(sign(5, 0), true, 0), kept::state::unknown) << "nobody has told";
}

// A leader that is behind, or is none any more, knows nothing of a lease that lives.
TEST(etcd_signs_of_life, only_a_majority_tells_of_a_death) {
    for (auto const ttl : {0, -1}) {
        EXPECT_EQ(judge(sign(ttl, 3), true, 3), kept::state::unknown);
        EXPECT_EQ(judge(sign(ttl, 3), false, 3), kept::state::dead);
        EXPECT_EQ(judge(sign(ttl, 3), false, 4), kept::state::dead) << "for ever, whoever leads";
    }
    EXPECT_EQ(judge(sign(5, 3), false, 3), kept::state::dead)
        << "its lease was gone, and was renewed";
}

TEST(etcd_signs_of_life, that_were_not_answered_prove_nothing) {
    wire::LeaseKeepAliveResponse answer;
    answer.set_id(7);
    answer.set_ttl(5);
    answer.mutable_header()->set_raft_term(3);
    auto const all = signs_of({session_id{7}, session_id{8}, session_id{9}}, {answer, answer});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(judge(all[0], true, 3), kept::state::alive);
    EXPECT_EQ(judge(all[1], true, 3), kept::state::unknown) << "the answer is for another lease";
    EXPECT_EQ(judge(all[2], true, 3), kept::state::unknown);
    EXPECT_EQ(judge(all[2], true, 0), kept::state::unknown);
    EXPECT_EQ(judge(all[2], false, 3), kept::state::dead);
}

TEST(etcd_signs_of_life, are_confirmed_by_reads_under_one_term) {
    shared_term term;
    EXPECT_EQ(term.value(), 0U);
    term.note(3);
    term.note(3);
    EXPECT_EQ(term.value(), 3U);
    term.note(4);
    EXPECT_EQ(term.value(), 0U);
    term.note(4);
    EXPECT_EQ(term.value(), 0U) << "one part was read under another";
}

class etcd_session_looks : public testing::Test {
protected:
    base::instant now_{base::instant{} + std::chrono::hours{1}};
    session_looks looks_;
};

TEST_F(etcd_session_looks, are_repeated_after_a_pause_until_there_is_an_answer) {
    EXPECT_EQ(looks_.due(), base::never);
    looks_.want(session_id{7});
    EXPECT_LE(looks_.due(), now_);
    auto const first = looks_.take_due(now_);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first.front().id, session_id{7});
    EXPECT_EQ(looks_.due(), base::never) << "it is under way";
    EXPECT_TRUE(looks_.take_due(now_).empty());
    looks_.were_missed(first, now_);
    ASSERT_NE(looks_.due(), base::never)
        << "nobody would hear of the end of a session that died before";
    EXPECT_GT(looks_.due(), now_) << "not at once: whatever was in the way still is";
    EXPECT_TRUE(looks_.take_due(now_).empty());
    now_ = looks_.due();
    auto const second = looks_.take_due(now_);
    EXPECT_EQ(second, first);
    looks_.were_missed(second, now_);
    EXPECT_GT(looks_.due() - now_, std::chrono::milliseconds{100}) << "pauses grow";
    looks_.hurry();
    EXPECT_LE(looks_.due(), now_) << "the connection is back";
    looks_.were_found(looks_.take_due(now_));
    EXPECT_EQ(looks_.due(), base::never);
}

TEST_F(etcd_session_looks, of_before_a_watch_was_renewed_do_not_count) {
    looks_.want(session_id{7});
    auto const early = looks_.take_due(now_);
    looks_.want(session_id{7});  // its history was lost: it may have died after that look
    looks_.were_found(early);
    EXPECT_LE(looks_.due(), now_);
    auto const late = looks_.take_due(now_);
    ASSERT_EQ(late.size(), 1U);
    looks_.were_missed(early, now_);
    EXPECT_EQ(looks_.due(), base::never) << "the late one is under way";
    looks_.were_found(late);
    EXPECT_TRUE(looks_.take_due(now_ + std::chrono::hours{1}).empty());
}

TEST_F(etcd_session_looks, at_what_is_watched_no_more_end) {
    looks_.want(session_id{7});
    auto const all = looks_.take_due(now_);
    looks_.remove(session_id{7});
    looks_.were_missed(all, now_);
    EXPECT_EQ(looks_.due(), base::never);
}

TEST(etcd_faults, only_what_etcd_refused_is_certain) {
    using enum grpc::StatusCode;
    EXPECT_TRUE(judged(PERMISSION_DENIED, "etcdserver: permission denied").certain);
    EXPECT_TRUE(judged(RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded").certain);
    EXPECT_TRUE(judged(NOT_FOUND, "etcdserver: requested lease not found").certain);
    EXPECT_TRUE(judged(INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request").certain);
    for (auto const code :
         {CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE, ABORTED, DATA_LOSS})
        EXPECT_FALSE(judged(code, "etcdserver: something else").certain) << code;
    // These are of gRPC itself, which may have sent the request before.
    EXPECT_FALSE(judged(RESOURCE_EXHAUSTED, "Received message larger than max").certain);
    EXPECT_FALSE(judged(UNAVAILABLE, "failed to connect to all addresses").certain);
    for (auto const* const words :
         {"etcdserver: request timed out", "etcdserver: leader changed", "etcdserver: no leader",
          "etcdserver: request timed out, possibly due to previous leader failure"})
        EXPECT_FALSE(judged(UNAVAILABLE, words).certain) << words;
}

TEST(etcd_faults, the_words_name_the_member_and_hide_the_password) {
    auto const found = judged(grpc::StatusCode::UNAVAILABLE, "no s3cret here");
    EXPECT_TRUE(found.error.is(errc::store_unavailable));
    EXPECT_NE(found.error.text.find("a:2379"), std::string::npos);
    EXPECT_EQ(found.error.text.find("s3cret"), std::string::npos);
}

TEST(etcd_versions, those_that_may_end_a_lease_early_are_known) {
    for (auto const* const good :
         {"3.4.38", "3.5.23", "3.5.30", "3.6.5", "3.7.0", "4.0.0", "unheard of"})
        EXPECT_TRUE(keeps_promises(good)) << good;
    for (auto const* const bad : {"3.3.27", "3.4.23", "3.5.22", "3.6.4", "3.6.0-rc.1"})
        EXPECT_FALSE(keeps_promises(bad)) << bad;
}

TEST(etcd_keys, lines_do_not_nest) {
    keys const at{"p/"};
    std::string const zero(1, '\0');
    std::vector<std::string> const names{"a",     "a" + zero, "a" + zero + "b", "a/b", "a b",
                                         "a\xff", "b"};
    for (auto const& one : names)
        for (auto const& other : names) {
            for (auto const number : {2U, 0x20000U}) {  // with an index, and without one
                seam::claim_id const id{seam::client_id{1}, number};
                auto const range = at.line({one, false});
                auto const key = at.claim({other, false}, id);
                EXPECT_EQ(range.begin <= key && key < range.end, one == other)
                    << one << " and " << other;
                EXPECT_EQ(key < at.claim({one, false}, id), other < one);
                EXPECT_EQ(at.name_of(key, true), other);
            }
        }
}

TEST(etcd_keys, of_claims_are_shared_by_those_of_one_index) {
    keys const at{"p/"};
    auto const key = [&](std::uint64_t client, std::uint64_t number) {
        return at.claim({"q", false}, {seam::client_id{client}, number});
    };
    EXPECT_EQ(key(1, 0x10007), key(1, 0x20007));
    EXPECT_NE(key(1, 0x10007), key(1, 0x10008));
    EXPECT_NE(key(1, 0x10007), key(2, 0x10007));
    EXPECT_NE(key(1, 0x10000), key(1, 0x20000)) << "these have none";
}

// Every look at the line would fail on it, and whoever wants to remove it would wait for ever.
TEST(etcd_looks, what_somebody_else_has_put_into_a_line_is_passed_over) {
    keys const at{"p/"};
    compare::name_query const what{.key = {"q", false}};
    auto const put = [&](wire::RangeResponse& to, std::uint64_t key, std::uint64_t value) {
        auto& made = *to.add_kvs();
        made.set_key(at.claim(what.key, {seam::client_id{1}, key}));
        wire::Waiter waiter;
        waiter.set_client(1);
        waiter.set_number(value);
        made.set_value(waiter.SerializeAsString());
        made.set_create_revision(to.kvs_size());
    };
    wire::RangeResponse head;
    wire::RangeResponse line;
    put(line, 0x10007, 0x10007);
    put(line, 0x10008, 0x10009);
    put(line, 0x1000a, 0x1000a);
    line.mutable_kvs(2)->set_value("no message");
    line.add_kvs()->set_key(at.line(what.key).begin);
    std::vector<wire::RangeResponse const*> const answers{&head, &line};
    auto const seen = view_of(what, answers, at).found.line;
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen.front().id.number, 0x10007U);
}

// etcd refuses such a request as a whole, with words that are no use to anybody.
TEST(etcd_transactions, never_write_a_key_twice) {
    keys const at{"p/"};
    compare::step what{.key = {"q", false}};
    what.leave = what.present = {{.id = {seam::client_id{1}, 0x10007}, .place = 5}};
    what.append = {{.id = {seam::client_id{1}, 0x20007}}};
    EXPECT_EQ(transaction_of(what, at).success_size(), 0);
    what.append.front().id.number = 0x20008;
    EXPECT_EQ(transaction_of(what, at).success_size(), 2);
}

// What stands between a client and etcd may answer with anything.
TEST(etcd_transactions, an_answer_of_another_shape_is_no_answer) {
    keys const at{"p/"};
    compare::step what{.key = {"q", false}};
    what.otherwise.sessions = {compare::session_id{1}};
    wire::TxnResponse from;
    EXPECT_FALSE(read_step(what, from, at)) << "nothing in it";
    auto& otherwise = *from.add_responses()->mutable_response_txn();
    ASSERT_TRUE(read_step(what, from, at));
    EXPECT_EQ(read_step(what, from, at)->taken, stepped::branch::none);
    otherwise.set_succeeded(true);
    for (int ranges = 0; ranges < 3; ++ranges) {
        EXPECT_FALSE(read_step(what, from, at)) << ranges;
        (void)otherwise.add_responses()->mutable_response_range();
    }
    ASSERT_TRUE(read_step(what, from, at));
    EXPECT_EQ(read_step(what, from, at)->taken, stepped::branch::second);
    (void)otherwise.add_responses()->mutable_response_range();
    EXPECT_FALSE(read_step(what, from, at)) << "more than was asked for";
    from.mutable_responses(0)->mutable_response_range();
    EXPECT_FALSE(read_step(what, from, at)) << "of another kind";
}

TEST(etcd_transactions, what_was_read_must_have_come_whole) {
    wire::TxnResponse from;
    EXPECT_TRUE(has_ranges(from, 0));
    EXPECT_FALSE(has_ranges(from, 1));
    (void)from.add_responses()->mutable_response_range();
    EXPECT_TRUE(has_ranges(from, 1));
    (void)from.add_responses()->mutable_response_put();
    EXPECT_FALSE(has_ranges(from, 2));
}

TEST(etcd_transactions, the_record_of_a_session_must_be_told) {
    wire::TxnResponse from;
    EXPECT_EQ(generation_of(from), std::nullopt);
    (void)from.add_responses()->mutable_response_range();
    EXPECT_EQ(generation_of(from), std::nullopt);
    from.mutable_responses(0)->mutable_response_range()->add_kvs()->set_mod_revision(7);
    EXPECT_EQ(generation_of(from), compare::generation{7});
    from.set_succeeded(true);
    from.mutable_header()->set_revision(9);
    EXPECT_EQ(generation_of(from), compare::generation{9});
}

}  // namespace

}  // namespace holdfast::stores::etcd
