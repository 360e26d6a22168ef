// The contract of drivers: which names there are, whatever their bytes.
#include <algorithm>

#include "compare/contract.hpp"

namespace holdfast::driver_tests {

using namespace stores::compare;

namespace {

std::vector<std::string> listed(member& who, listing const& what) {
    return expect<names>(who->list(what)).found;
}

listing under(std::string prefix) {
    listing out;
    out.prefix = std::move(prefix);
    return out;
}

}  // namespace

TEST_P(driver_contract, names_are_listed_in_the_order_of_their_bytes) {
    member one = join();
    std::string const home = new_name();
    std::vector<std::string> made;
    for (char const* const rest : {"/b", "/a", "/ä", "/B", "/a/a", "/\xef\xbf\xbf",
                                   "/\xf0\x9f\x94\x92", "/a b", "/%", "/_"}) {
        made.push_back(home + rest);
        (void)write_head(one, {made.back(), false}, "a head");
    }
    std::ranges::sort(made);
    EXPECT_EQ(listed(one, under(home)), made);
}

TEST_P(driver_contract, a_listing_has_a_beginning_a_middle_and_an_end) {
    member one = join();
    std::string const home = new_name();
    std::vector<std::string> made;
    for (char letter = 'a'; letter <= 'g'; ++letter) {
        made.push_back(home + "/" + letter);
        (void)write_head(one, {made.back(), letter % 2 == 0}, "a head");
    }
    listing page = under(home);
    page.most = 3;
    std::vector<std::string> found;
    for (int pages = 0; pages < 5; ++pages) {
        std::vector<std::string> const next = listed(one, page);
        EXPECT_LE(next.size(), 3U);
        if (next.empty()) break;
        found.insert(found.end(), next.begin(), next.end());
        page.after = next.back();
    }
    EXPECT_EQ(found, made);
    page.after = home + "/cc";
    EXPECT_EQ(listed(one, page), std::vector(made.begin() + 3, made.begin() + 6));
}

TEST_P(driver_contract, a_prefix_means_bytes_and_nothing_else) {
    member one = join();
    std::string const home = new_name();
    (void)write_head(one, {home + "/50%_x", false}, "a head");
    (void)write_head(one, {home + "/50ab", false}, "a head");
    (void)write_head(one, {home + "/50%", false}, "a head");
    (void)write_head(one, {home + "/5", false}, "a head");
    EXPECT_EQ(listed(one, under(home + "/50%")), (std::vector{home + "/50%", home + "/50%_x"}));
    EXPECT_EQ(listed(one, under(home + "/50%_")), std::vector{home + "/50%_x"});
    EXPECT_EQ(listed(one, under(home + "/*")), std::vector<std::string>{});
    EXPECT_EQ(listed(one, under(home)).size(), 4U);
    std::vector<std::string> const all = listed(one, under(""));
    EXPECT_FALSE(all.empty());
}

TEST_P(driver_contract, a_name_of_both_kinds_is_listed_once) {
    member one = join();
    std::string const home = new_name();
    for (bool const condition : {false, true}) {
        (void)write_head(one, {home + "/a", condition}, "a head");
        (void)wait_in_line(one, {home + "/a", condition});
    }
    (void)write_head(one, {home + "/b", true}, "a head");
    EXPECT_EQ(listed(one, under(home)), (std::vector{home + "/a", home + "/b"}));
    listing page = under(home);
    page.most = 1;
    EXPECT_EQ(listed(one, page), std::vector{home + "/a"});
    page.after = home + "/a";
    EXPECT_EQ(listed(one, page), std::vector{home + "/b"});
    page = under(home);
    page.waited_for = true;
    EXPECT_EQ(listed(one, page), std::vector{home + "/a"});
}

TEST_P(driver_contract, names_with_a_line_are_listed_alone_when_they_are_asked_for) {
    member one = join();
    std::string const home = new_name();
    (void)write_head(one, {home + "/held", false}, "a head");
    (void)write_head(one, {home + "/wanted", false}, "a head");
    line_item const item = wait_in_line(one, {home + "/wanted", false});
    (void)wait_in_line(one, {home + "/free", false});
    listing page = under(home);
    EXPECT_EQ(listed(one, page), (std::vector{home + "/free", home + "/held", home + "/wanted"}));
    page.waited_for = true;
    EXPECT_EQ(listed(one, page), (std::vector{home + "/free", home + "/wanted"}));
    page.after = home + "/free";
    EXPECT_EQ(listed(one, page), std::vector{home + "/wanted"});
    page.after.clear();
    page.most = 1;
    EXPECT_EQ(listed(one, page), std::vector{home + "/free"});
    page.most = 200;
    step what = one.on({home + "/wanted", false});
    what.expected = look(one, what.key).written;
    let_leave(what, item);
    (void)expect<committed>(one->commit(what));
    EXPECT_EQ(listed(one, page), std::vector{home + "/free"});
}

TEST_P(driver_contract, a_name_of_which_nothing_is_left_is_not_listed) {
    member one = join();
    std::string const home = new_name();
    step what = one.on({home, false});
    what.expected = write_head(one, what.key, "a head");
    what.head = head_write{};
    what.head->erase = true;
    (void)expect<committed>(one->commit(what));
    EXPECT_EQ(listed(one, under(home)), std::vector<std::string>{});
}

TEST_P(driver_contract, names_are_bytes) {
    member one = join();
    std::string const home = new_name();
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        every.push_back(static_cast<char>(byte));
    std::vector<std::string> made{home,
                                  home + std::string(1, '\0'),
                                  home + "/",
                                  home + "/line",
                                  home + "/line/1",
                                  home + "/head",
                                  home + "'; DROP TABLE x; --",
                                  home + "{a}",
                                  home + "\\x41",
                                  home + " ",
                                  home + every,
                                  home + "\xff",
                                  home + "\xff\xff",
                                  home + std::string(512 - home.size(), 'x')};
    for (std::string const& name : made) {
        (void)write_head(one, {name, false}, "head of " + name);
        (void)wait_in_line(one, {name, true}, "waits for " + name);
    }
    for (std::string const& name : made) {
        view const lock = look(one, {name, false});
        EXPECT_EQ(lock.body, "head of " + name);
        EXPECT_TRUE(lock.line.empty());
        view const condition = look(one, {name, true});
        EXPECT_EQ(condition.written, stamp{});
        ASSERT_EQ(condition.line.size(), 1U);
        EXPECT_EQ(condition.line[0].body, "waits for " + name);
    }
    std::ranges::sort(made);
    EXPECT_EQ(listed(one, under(home)), made);
    listing page = under(home);
    page.waited_for = true;
    EXPECT_EQ(listed(one, page), made);
    if (!store().pushes()) return;
    (void)expect<in_force>(one->watch({home + every, false}));
    (void)write_head(one, {home + every, false}, "changed");
    EXPECT_TRUE(one->drive_until([&] { return one->changes_of({home + every, false}) > 0; }));
}

}  // namespace holdfast::driver_tests
