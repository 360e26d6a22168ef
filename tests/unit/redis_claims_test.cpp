// The verbs of the seam, each against a real server.
#include <algorithm>

#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

class redis_claims : public redis_test {};

TEST_F(redis_claims, hello_tells_the_time) {
    peer mine{server().url()};
    auto const one = mine.send(seam::hello{});
    EXPECT_TRUE(std::holds_alternative<seam::done>(one.body)) << error_of(one).text;
    EXPECT_GT(one.now.time_since_epoch(), 24h * 365 * 50);
    EXPECT_GT(mine.send(seam::hello{}).now, one.now);
}

TEST_F(redis_claims, submit_settle_and_submit_again) {
    peer mine{server().url()};
    auto const first = mine.claim("orders");
    auto const granted = mine.submit(first);
    ASSERT_TRUE(is_granted(granted)) << error_of(granted).text;
    auto const number = std::get<seam::granted>(granted.body).held.number;
    EXPECT_TRUE(is_granted(mine.submit(first))) << "a submit that came twice";
    auto const second = mine.claim("orders");
    EXPECT_TRUE(is_refused(mine.submit(second), seam::refusal::busy));
    EXPECT_EQ(mine.settle(first), seam::ending::released);
    EXPECT_EQ(mine.settle(first), seam::ending::gone);
    auto const again = mine.submit(second);
    ASSERT_TRUE(is_granted(again));
    EXPECT_GT(std::get<seam::granted>(again.body).held.number, number);
}

TEST_F(redis_claims, tokens_rise_also_where_the_clock_was_set_back) {
    peer mine{server().url()};
    auto const now = mine.send(seam::hello{}).now.time_since_epoch().count();
    auto const ahead = static_cast<std::uint64_t>(now) + 3'600'000'000;
    server().ask({"SET", "holdfast:mark", std::to_string(ahead)});
    auto const granted = mine.submit(mine.claim("a"));
    ASSERT_TRUE(is_granted(granted)) << error_of(granted).text;
    EXPECT_EQ(number_of(granted), ahead + 1);
    auto const held = std::get<seam::granted>(granted.body).held;
    EXPECT_EQ(held.began, granted.now);
    EXPECT_FALSE(held.contended);
}

TEST_F(redis_claims, a_release_grants_the_next_and_tells_it) {
    peer mine{server().url()};
    peer other{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held, true)));
    auto const waiting = other.claim("q");
    ASSERT_TRUE(is_queued(other.submit(waiting, true)));
    EXPECT_TRUE(other.next<seam::session_changed>()) << "it was queued before anybody listened";
    EXPECT_EQ(mine.settle(held), seam::ending::released);
    auto const granted = other.next<seam::claim_granted>();
    ASSERT_TRUE(granted);
    EXPECT_EQ(granted->id, waiting.id);
    EXPECT_EQ(other.renew(waiting).found, seam::renewal::status::alive);
    EXPECT_EQ(other.renew(waiting).held.number, granted->held.number);
}

TEST_F(redis_claims, a_batch_of_renewals_is_one_reply_and_one_sick_name_harms_no_other) {
    peer mine{server().url()};
    seam::renew batch;
    for (int i = 0; i < 300; ++i) {
        auto const one = mine.claim("n" + std::to_string(i));
        bool const granted = i == 7 || is_granted(mine.submit(one));
        ASSERT_TRUE(granted);
        batch.items.push_back({one, 30s});
    }
    server().ask({"DEL", "holdfast:name:{n8}"});
    server().ask({"LPUSH", "holdfast:name:{n8}", "foreign"});
    auto const reply = mine.send(batch);
    auto const* const renewed = std::get_if<seam::renewed>(&reply.body);
    ASSERT_NE(renewed, nullptr) << error_of(reply).text;
    ASSERT_EQ(renewed->items.size(), 300U);
    for (std::size_t i = 0; i < 300; ++i) {
        auto const wanted = i == 7   ? seam::renewal::status::gone
                            : i == 8 ? seam::renewal::status::unknown
                                     : seam::renewal::status::alive;
        EXPECT_EQ(renewed->items[i].found, wanted) << i;
    }
}

TEST_F(redis_claims, kinds_and_limits_are_agreed_upon) {
    peer mine{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    auto const three = peer::spec({.name = "q",
                                   .kind = lock_kind::semaphore,
                                   .mode = claim_mode::permits,
                                   .permits = 1,
                                   .limit = 3});
    auto const no = mine.submit(mine.claim(three));
    ASSERT_TRUE(is_refused(no, seam::refusal::kind_mismatch));
    EXPECT_EQ(std::get<seam::refused>(no.body).text, "'q' is in use as a lock, not as a semaphore");
    mine.settle(held);
    auto const permit = mine.claim(three);
    ASSERT_TRUE(is_granted(mine.submit(permit)));
    auto const seen = mine.send(seam::adjust{permit});
    ASSERT_TRUE(std::holds_alternative<seam::adjusted>(seen.body)) << error_of(seen).text;
    EXPECT_EQ(std::get<seam::adjusted>(seen.body).used, 1U);
    EXPECT_EQ(std::get<seam::adjusted>(mine.send(seam::adjust{permit, 5U}).body).current, 5U);
    auto four = *three;
    four.limit = 4;
    EXPECT_TRUE(
        is_refused(mine.submit(mine.claim(peer::spec(four))), seam::refusal::limit_mismatch));
}

TEST_F(redis_claims, a_hold_is_made_weaker) {
    peer mine{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    EXPECT_TRUE(std::holds_alternative<seam::converted>(
        mine.send(seam::convert{held, claim_mode::shared, 1}).body));
    EXPECT_TRUE(is_refused(mine.send(seam::convert{held, claim_mode::exclusive, 1}),
                           seam::refusal::would_deadlock));
}

TEST_F(redis_claims, cells_are_swapped_and_watched) {
    peer mine{server().url()};
    peer other{server().url()};
    seam::cell_key const key{lock_kind::latch, "l", "count"};
    EXPECT_TRUE(std::holds_alternative<seam::done>(other.send(seam::watch{key}).body));
    EXPECT_TRUE(other.next<seam::session_changed>());
    auto const made = mine.send(seam::swap{key, 0, "7", 1h, {mine.id(), 1}});
    ASSERT_TRUE(std::holds_alternative<seam::swapped>(made.body)) << error_of(made).text;
    auto const version = std::get<seam::swapped>(made.body).version;
    auto const told = other.next<seam::changed>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->key, key);
    auto const cell = std::get<seam::cell>(other.send(seam::read{key}).body);
    EXPECT_EQ(cell.value, "7");
    EXPECT_EQ(cell.version, version);
    auto const late = mine.send(seam::swap{key, 0, "9", 1h, {mine.id(), 2}});
    ASSERT_TRUE(std::holds_alternative<seam::conflict>(late.body));
    EXPECT_EQ(std::get<seam::conflict>(late.body).current.value, "7");
    auto const guard = mine.claim(peer::spec({.name = "l", .kind = lock_kind::latch}));
    auto const guarded = mine.send(seam::swap{key, version, "6", 1h, {mine.id(), 3}, guard});
    ASSERT_TRUE(std::holds_alternative<seam::conflict>(guarded.body)) << error_of(guarded).text;
    EXPECT_TRUE(std::get<seam::conflict>(guarded.body).guard_failed);
    EXPECT_TRUE(std::holds_alternative<seam::done>(other.send(seam::unwatch{key}).body));
}

TEST_F(redis_claims, names_are_listed_in_order_and_in_pages) {
    peer mine{server().url()};
    std::vector<std::string> names{"a{b}", std::string(300, 'x'), "z*[?"};
    for (int i = 0; i < 450; ++i)
        names.push_back("n" + std::to_string(1000 + i));
    for (auto const& name : names)
        ASSERT_TRUE(is_granted(mine.submit(mine.claim(name)))) << name;
    std::ranges::sort(names);
    std::vector<std::string> seen;
    seam::inspect wanted;
    do {
        auto const reply = mine.send(wanted);
        auto const* const page = std::get_if<seam::page>(&reply.body);
        ASSERT_NE(page, nullptr) << error_of(reply).text;
        for (auto const& each : page->names)
            seen.push_back(each.name);
        wanted.after = page->next;
    } while (!wanted.after.empty());
    EXPECT_EQ(seen, names);

    auto const one = std::get<seam::page>(mine.send(seam::inspect{"z*[?", {}, true}).body);
    ASSERT_EQ(one.names.size(), 1U);
    ASSERT_EQ(one.names.front().holders.size(), 1U);
    auto const& holder = one.names.front().holders.front();
    EXPECT_EQ(holder.host, "here");
    EXPECT_EQ(holder.pid, ::getpid());
    EXPECT_EQ(holder.label, "peer");
    EXPECT_NE(holder.token, 0U);
    EXPECT_EQ(std::get<seam::page>(mine.send(seam::inspect{"z*"}).body).names.size(), 1U);
    EXPECT_EQ(std::get<seam::page>(mine.send(seam::inspect{"z?"}).body).names.size(), 0U);
    EXPECT_EQ(std::get<seam::page>(mine.send(seam::inspect{"a{"}).body).names.size(), 1U);
}

TEST_F(redis_claims, evict_ends_the_holds_of_others) {
    peer mine{server().url()};
    peer other{server().url()};
    auto const held = mine.claim("q");
    ASSERT_TRUE(is_granted(mine.submit(held, true)));
    ASSERT_TRUE(mine.listens(server()));
    auto const gone = other.send(seam::evict{"q"});
    ASSERT_TRUE(std::holds_alternative<seam::evicted>(gone.body)) << error_of(gone).text;
    EXPECT_EQ(std::get<seam::evicted>(gone.body).count, 1U);
    auto const told = mine.next<seam::claim_gone>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, held.id);
    EXPECT_EQ(mine.renew(held).found, seam::renewal::status::gone);
}

TEST_F(redis_claims, thousands_are_under_way_at_once) {
    peer mine{server().url() + "?timeout=60s"};  // a busy machine begins them slowly
    std::vector<seam::request_id> ids;
    for (int i = 0; i < 5000; ++i)
        ids.push_back(mine.begin(
            seam::submit{{mine.claim("m" + std::to_string(i))}, false, seam::store_time::max()}));
    for (auto const id : ids)
        ASSERT_TRUE(is_granted(mine.await(id)));
}

TEST_F(redis_claims, one_descriptor_tells_that_there_is_something_to_do) {
    peer a{server().url()};
    peer b{server().url()};
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
