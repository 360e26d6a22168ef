#include "base/indexed_heap.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace holdfast::base {
namespace {

struct thing {
    int key{0};
    heap_place place{};
};

struct by_key {
    static int key(thing const& it) noexcept { return it.key; }
    static heap_place& place(thing& it) noexcept { return it.place; }
};

using heap = indexed_heap<thing, by_key>;

TEST(indexed_heap, empty) {
    heap it;
    thing stranger;
    it.remove(stranger);
    EXPECT_TRUE(it.empty());
    EXPECT_EQ(it.top(), nullptr);
    EXPECT_FALSE(stranger.place.placed());
}

TEST(indexed_heap, behaves_as_a_sorted_multiset_does) {
    random draws{42};
    std::deque<thing> things(300);
    heap it;
    std::multiset<int> model;
    for (int step = 0; step < 20'000; ++step) {
        auto& one = things[draws.below(things.size())];
        bool const in = one.place.placed();
        if (in) model.erase(model.find(one.key));
        if (in && draws.one_in(2)) {
            it.remove(one);
            EXPECT_FALSE(one.place.placed());
        } else {
            one.key = static_cast<int>(draws.below(50));
            it.place(one);
            model.insert(one.key);
        }
        ASSERT_EQ(it.size(), model.size());
        if (!model.empty()) {
            ASSERT_EQ(it.top()->key, *model.begin());
        }
        for (std::size_t i = 0; i < it.items().size(); i += 37)
            ASSERT_EQ(it.items()[i]->place.index, i);
    }
    for (int last = -1; !it.empty();) {
        auto& top = *it.top();
        EXPECT_GE(top.key, last);
        last = top.key;
        it.remove(top);
    }
}

}  // namespace
}  // namespace holdfast::base
