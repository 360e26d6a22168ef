// Names: any legal one works on every store, and no two of them are one.
#include <set>
#include <string>
#include <vector>

#include "conformance/store_test.hpp"

namespace holdfast::conformance {

namespace {

std::vector<std::string> legal_names() {
    std::vector<std::string> out{
        "a",
        "A",
        "a ",
        " a",
        "a/b",
        "a//b",
        "/a",
        "a/",
        "/",
        ".",
        "..",
        "../a",
        "a/../b",
        "{a}",
        "{a}b",
        "a{b",
        "}",
        "{}",
        "{{a}}",
        "%",
        "%00",
        "a%2Fb",
        "*",
        "?",
        "[a]",
        "\\",
        "'",
        "\"",
        "a'b",
        "a;b",
        "a--b",
        "$(a)",
        "`a`",
        "a:b",
        "a@b",
        "#",
        "&",
        "=",
        "+",
        "~",
        "0",
        "00",
        "-1",
        "NULL",
        "null",
        "a_b",
        "a%b",
        "\u00e9",        // é composed …
        "e\u0301",       // … and decomposed: other bytes, another name
        "\u00fc\u00df",  // above ASCII, below U+0800
        "\u65e5\u672c\u8a9e",
        "\U0001f512",
        "\u00a0",  // a blank that is no control character
        "\u200b",  // nothing to be seen at all
        "\ufffd",
        "\U0010ffff",
    };
    out.push_back(std::string(512, 'x'));
    out.push_back(std::string(511, 'x'));
    out.push_back(std::string(511, 'x') + "y");
    std::string wide;
    for (int i = 0; i < 128; ++i)
        wide += "\U0001f512";
    out.push_back(wide);
    return out;
}

std::vector<std::string> illegal_names() {
    return {
        "",
        std::string(513, 'x'),
        std::string{"a\0b", 3},
        "a\nb",
        "\t",
        "\x1f",
        "\x7f",
        "\u0080",  // a control character above ASCII
        "\u009f",
        "\x80",              // no beginning
        "\xc3",              // no end
        "\xc3\x28",          // no continuation
        "\xc0\xaf",          // overlong
        "\xe0\x80\xaf",      // overlong
        "\xed\xa0\x80",      // half a surrogate pair
        "\xf4\x90\x80\x80",  // above U+10FFFF
        "\xff",
    };
}

class names_test : public store_test {};
HOLDFAST_OVER_ALL_ROWS(names_test);

TEST_P(names_test, all_legal_ones_are_different_locks) {
    auto ours = connect();
    auto theirs = connect();
    std::vector<lease> held;
    auto expected = legal_names();
    if (!can({ability::any_name}))
        std::erase_if(expected, [](std::string const& name) {
            return name.find_first_of("{}") != std::string::npos;
        });
    for (auto const& name : expected) {
        mutex mine{ours, name};
        auto got = mine.try_acquire();
        ASSERT_TRUE(got) << name << " is taken for another name";
        EXPECT_EQ(got->name(), name);
        held.push_back(*std::move(got));
        mutex their{theirs, name};
        EXPECT_FALSE(their.try_acquire()) << name;
    }
    std::multiset<std::string> listed_names;
    for (auto const& info : theirs.locks())
        listed_names.insert(info.name);
    EXPECT_EQ(listed_names, (std::multiset<std::string>{expected.begin(), expected.end()}));
    for (auto& it : held)
        EXPECT_EQ(it.release(), release_outcome::released) << it.name();
    EXPECT_TRUE(theirs.locks().empty());
}

TEST_P(names_test, illegal_ones_are_refused) {
    auto client = connect();
    for (auto const& name : illegal_names()) {
        EXPECT_EQ(failure_of([&] { mutex{client, name}; }), errc::bad_name) << name;
        EXPECT_EQ(failure_of([&] { recursive_mutex{client, name}; }), errc::bad_name) << name;
        EXPECT_EQ(failure_of([&] { return client.evict(name); }), errc::bad_name) << name;
    }
    EXPECT_TRUE(client.locks().empty());
}

TEST_P(names_test, never_nest) {
    auto client = connect();
    mutex root{client, "a"};
    mutex leaf{client, "a/b"};
    auto const both = std::pair{root.acquire(), leaf.try_acquire()};
    EXPECT_TRUE(both.second);
    EXPECT_EQ(client.evict("a"), 1U);
    EXPECT_TRUE(eventually([&] { return both.first.state() == lease_state::lost; }));
    EXPECT_TRUE(both.second->held());
    EXPECT_EQ(listed(client, "a/b").holders.size(), 1U);
}

}  // namespace

}  // namespace holdfast::conformance
