// Cells and watches of the file store.
#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

class file_cells : public testing::Test {
protected:
    seam::swap swap_of(std::uint64_t expected, std::string value, std::uint64_t operation) {
        return {.key = key,
                .expected = expected,
                .value = std::move(value),
                .ttl = 1h,
                .operation = {a.id(), operation}};
    }
    seam::cell read(peer& who) { return std::get<seam::cell>(who.send(seam::read{key}).body); }

    scratch_directory directory;
    std::string const url = "file:" + (directory / "locks.db");
    seam::cell_key const key{lock_kind::latch, "x", {}};
    peer a{url};
    peer b{url};
};

TEST_F(file_cells, only_the_expected_version_is_replaced) {
    EXPECT_EQ(read(a).version, 0U);
    auto const made = a.send(swap_of(0, "3", 1));
    auto const first = std::get<seam::swapped>(made.body).version;
    EXPECT_EQ(read(b).value, "3");
    auto const clash = b.send(swap_of(0, "9", 2));
    EXPECT_EQ(std::get<seam::conflict>(clash.body).current.version, first);
    auto const second = std::get<seam::swapped>(b.send(swap_of(first, "2", 3)).body).version;
    EXPECT_GT(second, first);
    EXPECT_EQ(read(a).value, "2");
}

TEST_F(file_cells, a_swap_sent_twice_is_one_swap) {
    auto const once = std::get<seam::swapped>(a.send(swap_of(0, "3", 7)).body).version;
    auto const twice = std::get<seam::swapped>(a.send(swap_of(0, "3", 7)).body).version;
    EXPECT_EQ(once, twice);
}

TEST_F(file_cells, values_are_bytes) {
    std::string const value{"a\0b\xff", 4};
    a.send(swap_of(0, value, 1));
    EXPECT_EQ(read(b).value, value);
}

TEST_F(file_cells, a_guard_must_be_held) {
    auto guarded = swap_of(0, "leader", 1);
    auto const guard = a.claim(peer::spec({.name = key.name, .kind = key.kind}));
    guarded.guard = guard;
    EXPECT_TRUE(std::get<seam::conflict>(a.send(guarded).body).guard_failed);
    a.submit(guard);
    EXPECT_TRUE(std::holds_alternative<seam::swapped>(a.send(guarded).body));
}

TEST_F(file_cells, time_and_removal_end_a_cell) {
    auto brief = swap_of(0, "3", 1);
    brief.ttl = 40ms;
    a.send(brief);
    while (read(b).version != 0) {}
    auto const again = std::get<seam::swapped>(a.send(swap_of(0, "3", 2)).body).version;
    auto removal = swap_of(again, "", 3);
    removal.remove = true;
    EXPECT_TRUE(std::holds_alternative<seam::swapped>(b.send(removal).body));
    EXPECT_EQ(read(a).version, 0U);
}

TEST_F(file_cells, a_watcher_is_told_of_changes_by_others) {
    b.send(seam::watch{key});
    a.send(swap_of(0, "3", 1));
    auto const told = b.next<seam::changed>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->key, key);
    b.send(seam::unwatch{key});
    a.send(swap_of(read(a).version, "2", 2));
    b.store().drive(base::boot_clock::now());
    EXPECT_EQ(b.unread(), 0U);
}

TEST_F(file_cells, a_watcher_of_a_name_is_told_when_it_is_free) {
    auto const mine = a.claim("y");
    a.submit(mine);
    b.send(seam::watch{{lock_kind::lock, "y", seam::holders_part}});
    a.settle(mine);
    auto const told = b.next<seam::changed>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->key.name, "y");
}

}  // namespace
}  // namespace holdfast::test
