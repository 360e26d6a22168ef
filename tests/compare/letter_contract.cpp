// The contract of drivers: letters between clients. A driver that does not push has none of them.
#include <algorithm>

#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;
using namespace std::chrono_literals;

namespace {

/// The step's stamp.
stamp send(member& from, name_key const& key, std::vector<letter> letters) {
    step what = from.on(key);
    what.append = {from.claim()};
    what.letters = std::move(letters);
    return expect<committed>(from->commit(what)).written;
}

bool arrived(member& at, std::size_t count) {
    return at->drive_until([&] { return at->letters.size() >= count; });
}

}  // namespace

TEST_P(driver_contract, the_traits_say_whether_letters_and_changes_are_told) {
    member to = join();
    EXPECT_TRUE(to->drive_until([&] { return to->driver().traits().pushes == store().pushes(); }));
    to->drive_for(100ms);
    EXPECT_EQ(to->driver().traits().pushes, store().pushes());
}

TEST_P(driver_contract, letters_arrive_in_the_order_of_their_stamps) {
    if (!store().pushes()) return;
    member from = join();
    member to = join();
    name_key const key = new_key();
    std::vector<stamp> sent;
    for (int count = 0; count < 20; ++count)
        sent.push_back(send(from, key, {{to.session, "letter " + std::to_string(count)}}));
    ASSERT_TRUE(arrived(to, sent.size()));
    ASSERT_EQ(to->letters.size(), sent.size());
    for (std::size_t count = 0; count < sent.size(); ++count) {
        EXPECT_EQ(to->letters[count].body, "letter " + std::to_string(count));
        EXPECT_EQ(to->letters[count].written, sent[count]);
        EXPECT_EQ(to->letters[count].to, to.session);
    }
    EXPECT_EQ(to->gaps, 0);
    EXPECT_TRUE(from->letters.empty());
}

TEST_P(driver_contract, letters_to_several_sessions_of_several_clients) {
    if (!store().pushes()) return;
    member from = join();
    member one = join();
    member other = join();
    session_id const second = new_session();
    (void)expect<opened>(one->open(second, 60s));
    stamp const sent =
        send(from, new_key(),
             {{one.session, "a"}, {second, "b"}, {other.session, "c"}, {from.session, "d"}});
    ASSERT_TRUE(arrived(one, 2));
    ASSERT_TRUE(arrived(other, 1));
    ASSERT_TRUE(arrived(from, 1));
    std::ranges::sort(one->letters, {}, &heard_letter::body);
    EXPECT_EQ(one->letters[0].body, "a");
    EXPECT_EQ(one->letters[0].to, one.session);
    EXPECT_EQ(one->letters[1].body, "b");
    EXPECT_EQ(one->letters[1].to, second);
    EXPECT_EQ(other->letters[0].body, "c");
    EXPECT_EQ(from->letters[0].body, "d");
    for (auto const& mine : {one->letters[0], one->letters[1], other->letters[0], from->letters[0]})
        EXPECT_EQ(mine.written, sent);
    // Nobody hears what was for another one.
    (void)send(from, new_key(), {{one.session, "z"}, {other.session, "z"}});
    ASSERT_TRUE(arrived(one, 3));
    ASSERT_TRUE(arrived(other, 2));
    EXPECT_EQ(one->letters.size(), 3U);
    EXPECT_EQ(other->letters.size(), 2U);
    one->driver().close(second);
}

TEST_P(driver_contract, letters_are_text_and_as_long_as_the_traits_say) {
    if (!store().pushes()) return;
    member from = join();
    member to = join();
    std::string every;  // of printable ASCII, and the end of a line
    for (char letter = ' '; letter <= '~'; ++letter)
        every.push_back(letter);
    every += "\n";
    std::string longest;
    while (longest.size() < from->driver().traits().letter_bytes)
        longest += every;
    longest.resize(from->driver().traits().letter_bytes);
    (void)send(from, new_key(), {{to.session, every}});
    (void)send(from, new_key(), {{to.session, longest}});
    (void)send(from, new_key(), {{to.session, "'"}});
    ASSERT_TRUE(arrived(to, 3));
    EXPECT_EQ(to->letters[0].body, every);
    EXPECT_EQ(to->letters[1].body, longest);
    EXPECT_EQ(to->letters[2].body, "'");
}

TEST_P(driver_contract, a_letter_to_nobody_is_in_nobodys_way) {
    member from = join();
    own_session const mortal = open_mortal(*from);
    end(mortal.id, *from);
    name_key const key = new_key();
    (void)send(from, key, {{mortal.id, "too late"}, {new_session(), "to nobody"}});
    EXPECT_EQ(look(from, key).line.size(), 1U);
}

TEST_P(driver_contract, a_letter_may_be_on_its_way_before_the_session_raises_its_generation) {
    if (!store().pushes()) return;
    member from = join();
    member to = join();
    name_key const key = new_key();
    (void)send(from, key, {{to.session, "before"}});
    to.current = expect<raised>(to->raise(to.session)).current;
    (void)send(from, key, {{to.session, "after"}});
    ASSERT_TRUE(arrived(to, 2));
    EXPECT_EQ(to->letters[0].body, "before");
    EXPECT_EQ(to->letters[1].body, "after");
}

TEST_P(driver_contract, a_cut_is_told_as_a_gap_and_later_letters_arrive) {
    member from = join();
    member to = join();
    name_key const key = new_key();
    name_key const watched = new_key();
    (void)expect<in_force>(to->watch(watched));
    if (!store().cut(to->driver())) return;
    (void)send(from, key, {{to.session, "perhaps"}});
    ASSERT_TRUE(to->drive_until([&] { return to->gaps > 0; }));
    EXPECT_GT(to->doubts, 0);
    to->letters.clear();
    stamp const sent = send(from, key, {{to.session, "surely"}});
    ASSERT_TRUE(to->drive_until([&] {
        return std::ranges::any_of(to->letters,
                                   [](heard_letter const& one) { return one.body == "surely"; });
    }));
    EXPECT_EQ(to->letters.back().written, sent);
    // Watches are kept by the driver.
    to->changes.clear();
    (void)write_head(from, watched, "changed");
    EXPECT_TRUE(to->drive_until([&] { return to->changes_of(watched) > 0; }));
    EXPECT_TRUE(alive(*to, to.session)) << "a connection is not a session";
}

}  // namespace holdfast::driver_tests
