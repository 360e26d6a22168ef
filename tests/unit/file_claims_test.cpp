// The file store as a lease store: the rules over rows, seen by clients of one process.
#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

class file_claims : public testing::Test {
protected:
    scratch_directory directory;
    std::string const url = "file:" + (directory / "locks.db");
    peer a{url};
    peer b{url};
};

TEST_F(file_claims, one_holds_and_the_other_is_refused) {
    auto const mine = a.claim("x");
    ASSERT_TRUE(is_granted(a.submit(mine)));
    auto const answer = b.submit(b.claim("x"));
    ASSERT_TRUE(is_refused(answer, seam::refusal::busy));
    EXPECT_GT(std::get<seam::refused>(answer.body).blocked_for, 0ms);
    EXPECT_EQ(a.settle(mine), seam::ending::released);
    EXPECT_EQ(a.settle(mine), seam::ending::gone);
    EXPECT_TRUE(is_granted(b.submit(b.claim("x"))));
}

TEST_F(file_claims, a_release_hands_over_in_the_order_of_arrival) {
    peer c{url};
    auto const first = a.claim("x");
    auto const second = b.claim("x");
    auto const third = c.claim("x");
    auto const held = a.submit(first);
    ASSERT_TRUE(is_granted(held));
    ASSERT_TRUE(is_queued(b.submit(second, true)));
    ASSERT_TRUE(is_queued(c.submit(third, true)));
    EXPECT_TRUE(a.next<seam::name_contended>());
    a.settle(first);
    auto const told = b.next<seam::claim_granted>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, second.id);
    EXPECT_TRUE(told->held.contended);
    EXPECT_GT(static_cast<std::uint64_t>(told->held.number), number_of(held));
    b.settle(second);
    auto const last = c.next<seam::claim_granted>();
    ASSERT_TRUE(last);
    EXPECT_FALSE(last->held.contended);
    EXPECT_GT(last->held.number, told->held.number);
}

TEST_F(file_claims, a_look_for_deadlocks_lists_only_names_that_somebody_waits_for) {
    auto const look = [&](std::string after) {
        seam::inspect what;
        what.after = std::move(after);
        what.waited_for = true;
        std::vector<std::string> names;
        auto const answer = a.send(what);
        for (auto const& one : std::get<seam::page>(answer.body).names)
            names.push_back(one.name);
        return names;
    };
    for (auto const* const name : {"w", "x", "y", "z"})
        ASSERT_TRUE(is_granted(a.submit(a.claim(name))));
    EXPECT_TRUE(look("").empty());
    auto thread = b.claim("x");
    thread.actor = seam::actor_id{3};
    ASSERT_TRUE(is_queued(b.submit(thread, true)));
    auto const owner = b.claim(peer::spec({.name = "z", .owner = "o"}));
    ASSERT_TRUE(is_queued(b.submit(owner, true)));
    EXPECT_EQ(look(""), (std::vector<std::string>{"x", "z"}));
    EXPECT_EQ(look("x"), (std::vector<std::string>{"z"}));
    b.settle(thread);
    EXPECT_EQ(look(""), (std::vector<std::string>{"z"}));
    b.settle(owner);
    EXPECT_TRUE(look("").empty());
}

TEST_F(file_claims, a_notice_outlives_a_ring_that_nobody_heard) {
    auto const first = a.claim("x");
    auto const second = b.claim("x");
    a.submit(first);
    b.submit(second, true);
    std::filesystem::remove_all(directory / "locks.db-wake");  // no FIFO, no wake-up
    a.settle(first);
    EXPECT_TRUE(b.next<seam::claim_granted>());
}

TEST_F(file_claims, a_submit_sent_twice_is_one_claim) {
    auto const mine = a.claim("x");
    auto const once = a.submit(mine);
    auto const twice = a.submit(mine);
    EXPECT_EQ(number_of(once), number_of(twice));
    auto const waiting = b.claim("x");
    EXPECT_TRUE(is_queued(b.submit(waiting, true)));
    EXPECT_TRUE(is_queued(b.submit(waiting, true)));
    a.settle(mine);
    EXPECT_TRUE(b.next<seam::claim_granted>());
    EXPECT_TRUE(is_granted(b.submit(waiting, true)));
    EXPECT_EQ(b.settle(waiting), seam::ending::released);
    EXPECT_TRUE(is_granted(a.submit(a.claim("x"))));
}

TEST_F(file_claims, a_lease_that_is_not_renewed_ends) {
    auto const brief = a.claim(peer::spec({.name = "x", .lease = 60ms}));
    auto const began = base::boot_clock::now();
    auto const held = a.submit(brief);
    auto const waiting = b.claim("x");
    auto answer = b.submit(waiting, true);
    ASSERT_TRUE(is_queued(answer));
    EXPECT_LE(std::get<seam::queued>(answer.body).blocked_for, 60ms);
    while (b.renew(waiting).found == seam::renewal::status::waiting) {}
    EXPECT_GE(base::boot_clock::now() - began, 60ms);
    EXPECT_EQ(b.renew(waiting).found, seam::renewal::status::alive);
    EXPECT_TRUE(a.next<seam::claim_gone>());
    EXPECT_EQ(a.renew(brief).found, seam::renewal::status::gone);
    EXPECT_EQ(a.settle(brief), seam::ending::gone);
}

TEST_F(file_claims, a_renewal_moves_the_end) {
    auto const mine = a.claim(peer::spec({.name = "x", .lease = 60ms}));
    a.submit(mine);
    auto const renewed = a.renew(mine, 30s);
    EXPECT_EQ(renewed.found, seam::renewal::status::alive);
    auto const end = base::boot_clock::now() + 100ms;
    while (base::boot_clock::now() < end)
        ASSERT_TRUE(is_refused(b.submit(b.claim("x")), seam::refusal::busy));
}

TEST_F(file_claims, a_request_that_was_given_up_takes_nothing) {
    auto const now = a.send(seam::hello{}).now;
    auto const late = a.claim("x");
    EXPECT_TRUE(
        is_refused(a.send(seam::submit{{late}, false, now - 1us}), seam::refusal::too_late));
    auto const withdrawn = a.claim("x");
    a.send(seam::settle{{withdrawn}, 0ms, now + 1h});
    EXPECT_TRUE(is_refused(a.submit(withdrawn), seam::refusal::too_late));
    EXPECT_TRUE(is_granted(b.submit(b.claim("x"))));
}

TEST_F(file_claims, a_minimum_hold_outlives_its_client) {
    {
        peer brief{url};
        auto const mine = brief.claim("x");
        brief.submit(mine);
        brief.send(seam::settle{{mine}, 1h});
    }
    EXPECT_TRUE(is_refused(b.submit(b.claim("x")), seam::refusal::busy));
}

TEST_F(file_claims, readers_share_and_a_writer_waits_for_all) {
    auto const reading = peer::spec({.name = "x", .mode = claim_mode::shared});
    auto const one = a.claim(reading);
    auto const two = b.claim(reading);
    ASSERT_TRUE(is_granted(a.submit(one)));
    ASSERT_TRUE(is_granted(b.submit(two)));
    auto const writer = a.claim("x");
    ASSERT_TRUE(is_queued(a.submit(writer, true)));
    EXPECT_TRUE(is_refused(b.submit(b.claim(reading)), seam::refusal::busy));
    b.settle(two);
    a.settle(one);
    EXPECT_EQ(a.next<seam::claim_granted>()->id, writer.id);
}

TEST_F(file_claims, a_semaphore_counts_and_a_kind_stays_a_kind) {
    auto const permit = [](std::uint32_t limit) {
        return peer::spec({.name = "x",
                           .kind = lock_kind::semaphore,
                           .mode = claim_mode::permits,
                           .permits = 2,
                           .limit = limit});
    };
    ASSERT_TRUE(is_granted(a.submit(a.claim(permit(4)))));
    auto const second = b.claim(permit(4));
    ASSERT_TRUE(is_granted(b.submit(second)));
    EXPECT_TRUE(is_refused(b.submit(b.claim(permit(4))), seam::refusal::busy));
    EXPECT_TRUE(is_refused(b.submit(b.claim(permit(5))), seam::refusal::limit_mismatch));
    EXPECT_TRUE(is_refused(b.submit(b.claim("x")), seam::refusal::kind_mismatch));
    auto const limit = b.send(seam::adjust{b.claim(permit(4)), 8});
    EXPECT_EQ(std::get<seam::adjusted>(limit.body).used, 4U);
    EXPECT_TRUE(is_granted(b.submit(b.claim(permit(4)))));
}

TEST_F(file_claims, one_explicit_owner_is_one_hold_with_one_token) {
    auto const owned = peer::spec({.name = "x", .owner = "batch 7", .joins = true});
    auto const one = a.claim(owned);
    auto const two = b.claim(owned);
    auto const first = a.submit(one);
    auto const second = b.submit(two);
    EXPECT_EQ(number_of(first), number_of(second));
    a.settle(one);
    EXPECT_TRUE(is_refused(a.submit(a.claim("x")), seam::refusal::busy));
    b.settle(two);
    EXPECT_TRUE(is_granted(a.submit(a.claim("x"))));
}

TEST_F(file_claims, a_hold_can_be_made_weaker) {
    auto const writer = a.claim("x");
    auto const before = a.submit(writer);
    auto const reader = b.claim(peer::spec({.name = "x", .mode = claim_mode::shared}));
    ASSERT_TRUE(is_queued(b.submit(reader, true)));
    auto const after = a.send(seam::convert{writer, claim_mode::shared, 1});
    ASSERT_TRUE(std::holds_alternative<seam::converted>(after.body));
    EXPECT_EQ(static_cast<std::uint64_t>(std::get<seam::converted>(after.body).held.number),
              number_of(before));
    EXPECT_TRUE(b.next<seam::claim_granted>());
}

TEST_F(file_claims, a_listing_shows_holders_and_waiters_in_order) {
    auto const holder = a.claim(peer::spec({.name = "jobs/1", .label = "nightly"}));
    auto const waiter = b.claim("jobs/1");
    a.submit(holder);
    b.submit(waiter, true);
    a.submit(a.claim("other"));
    auto const page = std::get<seam::page>(b.send(seam::inspect{"jobs/"}).body);
    ASSERT_EQ(page.names.size(), 1U);
    auto const& found = page.names.front();
    ASSERT_EQ(found.holders.size(), 1U);
    ASSERT_EQ(found.waiters.size(), 1U);
    EXPECT_EQ(found.holders.front().label, "nightly");
    EXPECT_EQ(found.holders.front().host, "here");
    EXPECT_EQ(found.holders.front().pid, ::getpid());
    EXPECT_EQ(found.waiters.front().id, seam::to_string(waiter.id));
    EXPECT_TRUE(std::get<seam::page>(b.send(seam::inspect{"jobs"}).body).names.size() == 1);
    EXPECT_TRUE(std::get<seam::page>(b.send(seam::inspect{"jobs", "", true}).body).names.empty());
}

TEST_F(file_claims, a_long_listing_comes_in_pages) {
    constexpr std::size_t many = 450;
    for (std::size_t i = 0; i < many; ++i)
        a.submit(a.claim("n" + std::to_string(i)));
    std::size_t seen = 0;
    std::string after;
    do {
        auto const page = std::get<seam::page>(b.send(seam::inspect{"n", after}).body);
        seen += page.names.size();
        after = page.next;
    } while (!after.empty());
    EXPECT_EQ(seen, many);
}

TEST_F(file_claims, an_evicted_holder_is_told) {
    auto const mine = a.claim("x");
    auto const waiting = b.claim("x");
    a.submit(mine);
    b.submit(waiting, true);
    peer operator_{url};
    auto const out = operator_.send(seam::evict{"x"});
    EXPECT_EQ(std::get<seam::evicted>(out.body).count, 1U);
    auto const told = a.next<seam::claim_gone>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, mine.id);
    EXPECT_NE(told->why.find("evicted"), std::string::npos);
    EXPECT_TRUE(b.next<seam::claim_granted>());
}

TEST_F(file_claims, sequences_rise_over_every_kind_of_grant) {
    std::uint64_t last = 0;
    for (int i = 0; i < 500; ++i) {
        auto& who = i % 2 == 0 ? a : b;
        auto const mine = who.claim("x");
        auto const now = number_of(who.submit(mine));
        ASSERT_GT(now, last);
        last = now;
        who.settle(mine);
    }
}

TEST_F(file_claims, nothing_is_left_of_what_ended) {
    for (int i = 0; i < 50; ++i) {
        auto const mine = a.claim("x" + std::to_string(i));
        auto const waiting = b.claim("x" + std::to_string(i));
        a.submit(mine);
        b.submit(waiting, true);
        a.settle(mine);
        b.settle(waiting);
    }
    auto const page = std::get<seam::page>(a.send(seam::inspect{""}).body);
    EXPECT_TRUE(page.names.empty());
}

TEST_F(file_claims, one_descriptor_tells_that_there_is_something_to_do) {
    auto const held = a.claim("watched");
    auto const waiting = b.claim("watched");
    ASSERT_TRUE(is_granted(a.submit(held)));
    ASSERT_TRUE(is_queued(b.submit(waiting, true)));
    EXPECT_FALSE(b.next_by_descriptor<seam::claim_granted>(200ms));
    a.settle(held);
    auto const told = b.next_by_descriptor<seam::claim_granted>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, waiting.id);
}

}  // namespace
}  // namespace holdfast::test
