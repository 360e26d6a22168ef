// Owners who wait for each other, by what a listing says.
#include "core/wait_graph.hpp"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

lock_info name(std::string called, std::string holder, std::string waiter) {
    lock_info out;
    out.name = std::move(called);
    out.holders.push_back({.owner = std::move(holder)});
    out.waiters.push_back({.owner = std::move(waiter)});
    out.waiters.back().id = out.name;
    return out;
}

TEST(wait_graph, owners_by_name_may_look_like_clients_without_threads) {
    EXPECT_EQ(find_deadlocks({name("x", "anna/0", "ben/0"), name("y", "ben/0", "anna/0")}).size(),
              1U);
}

TEST(wait_graph, what_belongs_to_no_thread_waits_for_nobody) {
    std::string const one = "00000000000000a1/0";
    std::string const two = "00000000000000b2/0";
    EXPECT_TRUE(find_deadlocks({name("x", one, two), name("y", two, one)}).empty());
}

TEST(wait_graph, what_a_minimum_hold_keeps_is_nobodys_and_ends_by_itself) {
    auto released = name("x", "anna", "ben");
    released.holders.front().kept = true;
    EXPECT_TRUE(find_deadlocks({released, name("y", "ben", "anna")}).empty());
    EXPECT_TRUE(find_cycle({released, name("y", "ben", "anna")}, "y").empty());
    released.holders.push_back({.owner = "anna"});  // who holds it once more by another claim
    EXPECT_EQ(find_deadlocks({released, name("y", "ben", "anna")}).size(), 1U);
}

}  // namespace
}  // namespace holdfast::core
