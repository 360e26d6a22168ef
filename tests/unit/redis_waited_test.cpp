// Listings of names on which somebody waits: what a look for deadlocks costs, and that it misses nobody.
#include <set>
#include <sstream>

#include "unit/redis_fixture.hpp"

namespace holdfast::test {
namespace {

class redis_waited : public redis_test {
protected:
    /// A claim of a thread that is known.
    [[nodiscard]] static seam::claim known(peer& of, std::string const& name) {
        auto out = of.claim(name);
        out.actor = seam::actor_id{7};
        return out;
    }

    /// All pages.
    [[nodiscard]] static std::vector<seam::listed> look(peer& as) {
        std::vector<seam::listed> out;
        seam::inspect what;
        what.waited_for = true;
        do {
            auto const reply = as.send(what);
            auto const* const page = std::get_if<seam::page>(&reply.body);
            if (page == nullptr) {
                ADD_FAILURE() << error_of(reply).text;
                return out;
            }
            EXPECT_GT(reply.now, seam::store_time{});
            out.insert(out.end(), page->names.begin(), page->names.end());
            what.after = page->next;
        } while (!what.after.empty());
        return out;
    }

    /// Commands that clients sent since the last CONFIG RESETSTAT.
    [[nodiscard]] static std::uint64_t sent() {
        std::istringstream lines{server().ask({"INFO", "commandstats"})};
        std::uint64_t out = 0;
        for (std::string line; std::getline(lines, line);)
            for (std::string_view const name : {"cmdstat_evalsha:calls=", "cmdstat_scan:calls="})
                if (line.starts_with(name)) out += std::stoull(line.substr(name.size()));
        return out;
    }

    static void finish_latches(peer& with, int count) {
        std::vector<seam::request_id> ids;
        for (int i = 0; i < count; ++i) {
            seam::cell_key key{lock_kind::latch, "latch " + std::to_string(i), {}};
            auto const number = static_cast<std::uint64_t>(i) + 1;
            ids.push_back(with.begin(seam::swap{std::move(key), 0, "0", 24h, {with.id(), number}}));
        }
        for (auto const id : ids)
            ASSERT_TRUE(std::holds_alternative<seam::swapped>(with.await(id).body));
    }
};

TEST_F(redis_waited, a_look_costs_what_is_waited_for_and_not_what_is_there) {
    peer mine{server().url() + "?timeout=60s"};  // for all of them at once, on a busy machine
    peer other{server().url()};
    finish_latches(mine, 20'000);
    auto const held = known(mine, "q");
    auto const waits = known(other, "q");
    ASSERT_TRUE(is_granted(mine.submit(held)));
    ASSERT_TRUE(is_queued(other.submit(waits, true)));
    (void)look(other);  // loads the scripts
    server().ask({"CONFIG", "RESETSTAT"});
    auto const names = look(other);
    EXPECT_EQ(sent(), 2U) << "the index, and one name";
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].name, "q");
    ASSERT_EQ(names[0].holders.size(), 1U);
    ASSERT_EQ(names[0].waiters.size(), 1U);
    EXPECT_EQ(names[0].waiters[0].id, seam::to_string(waits.id));
    EXPECT_FALSE(names[0].waiters[0].owner.ends_with("/0"));
    other.settle(waits);
    EXPECT_TRUE(look(other).empty());
    EXPECT_EQ(server().ask({"EXISTS", "holdfast:waited"}), "0");
}

TEST_F(redis_waited, explicit_owners_count_and_nobody_in_particular_does_not) {
    peer mine{server().url()};
    for (auto const* const name : {"a", "b"})
        ASSERT_TRUE(is_granted(mine.submit(mine.claim(name))));
    ASSERT_TRUE(is_queued(mine.submit(mine.claim("a"), true)));
    EXPECT_EQ(server().ask({"EXISTS", "holdfast:waited"}), "0") << "it costs them nothing";
    ASSERT_TRUE(is_queued(mine.submit(mine.claim(peer::spec({.name = "b", .owner = "me"})), true)));
    auto const names = look(mine);
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].waiters.at(0).owner, "me");
}

TEST_F(redis_waited, no_page_misses_anybody) {
    peer mine{server().url()};
    peer other{server().url()};
    std::set<std::string> names{"a{b}", std::string(300, 'x'), std::string(200, 'y') + "{}"};
    for (int i = 0; i < 450; ++i)
        names.insert("n" + std::to_string(1000 + i));
    for (auto const& name : names) {
        ASSERT_TRUE(is_granted(mine.submit(known(mine, name))));
        ASSERT_TRUE(is_queued(other.submit(known(other, name), true)));
        ASSERT_TRUE(is_granted(mine.submit(known(mine, name + "#"))));  // held, not waited for
    }
    std::set<std::string> seen;
    for (auto const& each : look(other)) {
        EXPECT_TRUE(seen.insert(each.name).second) << each.name;
        EXPECT_EQ(each.waiters.size(), 1U);
    }
    EXPECT_EQ(seen, names);

    // A page of another listing begins where one of these ended: they are not taken for each other.
    seam::inspect first;
    first.waited_for = true;
    auto const page = std::get<seam::page>(other.send(first).body);
    ASSERT_FALSE(page.next.empty());
    auto const rest = std::get<seam::page>(other.send(seam::inspect{{}, page.next}).body);
    ASSERT_FALSE(rest.names.empty());
    EXPECT_EQ(rest.names.front().name, page.next + "#");
}

TEST_F(redis_waited, the_plain_layout_has_no_line) {
    peer mine{server().url() + "?layout=plain"};
    ASSERT_TRUE(is_granted(mine.submit(mine.claim("q"))));
    EXPECT_TRUE(look(mine).empty());
}

}  // namespace
}  // namespace holdfast::test
