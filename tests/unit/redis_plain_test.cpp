// The layout that other clients have: one string per lock.
#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

class redis_plain : public redis_test {
protected:
    [[nodiscard]] static std::string url() { return server().url() + "?layout=plain"; }
};

TEST_F(redis_plain, says_what_it_cannot_do) {
    peer mine{url()};
    auto const can = mine.store().abilities();
    EXPECT_FALSE(can.line);
    auto const refused = [&](seam::claim_spec spec) {
        return error_of(mine.submit(mine.claim(peer::spec(std::move(spec)))));
    };
    expect(refused({.name = "q", .mode = claim_mode::shared}), errc::unsupported, "shared");
    expect(refused({.name = "q", .order = ordering::fair}), errc::unsupported, "fair");
    expect(refused({.name = "q", .owner = "me", .joins = true}), errc::unsupported, "share");
    expect(refused({.name = "q", .kind = lock_kind::semaphore, .mode = claim_mode::permits}),
           errc::unsupported, "semaphores");
    expect(refused({.name = "q{1}"}), errc::bad_name, "braces");
    expect(refused({.name = "holdfast:mark"}), errc::bad_name, "itself");
    expect(error_of(mine.send(seam::read{{lock_kind::latch, "l", {}}})), errc::unsupported,
           "plain");
    EXPECT_TRUE(std::holds_alternative<seam::done>(
        mine.send(seam::watch{{lock_kind::lock, "q", {}}}).body));
}

TEST_F(redis_plain, a_lock_is_a_key) {
    peer mine{url()};
    auto const held = mine.claim("orders");
    auto const granted = mine.submit(held);
    ASSERT_TRUE(is_granted(granted)) << error_of(granted).text;
    EXPECT_TRUE(server().ask({"GET", "orders"}).starts_with(seam::to_string(held.id) + ":"));
    EXPECT_TRUE(is_granted(mine.submit(held))) << "sent twice";
    peer other{url()};
    auto const no = other.submit(other.claim("orders"));
    ASSERT_TRUE(is_refused(no, seam::refusal::busy));
    EXPECT_GT(std::get<seam::refused>(no.body).blocked_for, 0ms);
    seam::renew both{{{held, 60s}, {mine.claim("orders"), 60s}}};
    auto const renewed = std::get<seam::renewed>(mine.send(both).body);
    EXPECT_EQ(renewed.items[0].found, seam::renewal::status::alive);
    EXPECT_EQ(renewed.items[1].found, seam::renewal::status::gone);
    EXPECT_EQ(mine.settle(held), seam::ending::released);
    EXPECT_EQ(server().ask({"EXISTS", "orders"}), "0");
    EXPECT_TRUE(is_granted(other.submit(other.claim("orders"))));
}

TEST_F(redis_plain, the_locks_of_others_are_respected) {
    server().ask({"SET", "theirs", "0f0f", "PX", "60000"});
    server().ask({"SET", "for ever", "0f0f"});
    peer mine{url()};
    auto const no = mine.submit(mine.claim("theirs"));
    ASSERT_TRUE(is_refused(no, seam::refusal::busy));
    EXPECT_GT(std::get<seam::refused>(no.body).blocked_for, 50s);
    EXPECT_TRUE(is_refused(mine.submit(mine.claim("for ever")), seam::refusal::busy));
    auto const count = [&](bool force) {
        seam::evict what{"theirs"};
        what.force = force;
        return std::get<seam::evicted>(mine.send(what).body).count;
    };
    EXPECT_EQ(count(false), 0U);
    EXPECT_EQ(count(true), 1U);
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("theirs"))));
}

TEST_F(redis_plain, a_foreign_lock_may_last_longer_than_we_can_count) {
    // 2^53 + 1, and about the longest that the server takes
    for (auto const* const left : {"9007199254740993", "9223370000000000000"}) {
        ASSERT_EQ(server().ask({"SET", "theirs", "0f0f", "PX", left}), "OK");
        peer mine{url()};
        auto const no = mine.submit(mine.claim("theirs"));
        ASSERT_TRUE(is_refused(no, seam::refusal::busy)) << left << ": " << error_of(no).text;
        auto const blocked_for = std::get<seam::refused>(no.body).blocked_for;
        EXPECT_GT(blocked_for, 24h) << left;
        EXPECT_GT(std::chrono::nanoseconds{blocked_for}, 24h) << "it can be counted with";
        auto const page = mine.send(seam::inspect{"theirs", {}, true});
        ASSERT_TRUE(std::holds_alternative<seam::page>(page.body)) << error_of(page).text;
        auto const shown = std::get<seam::page>(page.body).names.at(0).holders.at(0);
        EXPECT_GT(std::chrono::nanoseconds{shown.lease_left}, 24h) << left;
    }
}

TEST_F(redis_plain, listings_show_what_is_ours_and_what_is_named) {
    server().ask({"SET", "a config value", "7"});
    peer mine{url()};
    for (auto const* const name : {"b", "a"})
        ASSERT_TRUE(is_granted(mine.submit(mine.claim(name))));
    auto const all = std::get<seam::page>(mine.send(seam::inspect{}).body);
    ASSERT_EQ(all.names.size(), 2U);
    EXPECT_EQ(all.names[0].name, "a");
    EXPECT_NE(all.names[0].holders.front().token, 0U);
    auto const one =
        std::get<seam::page>(mine.send(seam::inspect{"a config value", {}, true}).body);
    ASSERT_EQ(one.names.size(), 1U);
    EXPECT_EQ(one.names[0].holders.front().owner, "another client");
    EXPECT_EQ(one.names[0].holders.front().token, 0U);
    EXPECT_TRUE(std::get<seam::page>(mine.send(seam::inspect{"none"}).body).names.empty());
    auto const count = [&](char const* prefix) {
        return std::get<seam::page>(mine.send(seam::inspect{prefix}).body).names.size();
    };
    EXPECT_EQ(count("a config value"), 1U) << "a prefix that is the whole name names it";
    EXPECT_EQ(count("a config"), 0U);
}

}  // namespace
}  // namespace holdfast::test
