// Waiting for descriptors, for time and for a wake-up, without a server.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <span>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "net/poller.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using base::boot_clock;

/// Both ends of a stream, the first of which is watched.
class channel {
public:
    channel() {
        int ends[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        here_ = base::descriptor{ends[0]};
        there_ = base::descriptor{ends[1]};
    }

    void watch(poller& by, poller::tag about, std::uint32_t interest = EPOLLIN) {
        registration_ = by.add(here_.get(), interest, about);
    }
    void want(std::uint32_t interest) { registration_.want(interest); }
    void say_something() const { EXPECT_EQ(::send(there_.get(), "x", 1, MSG_NOSIGNAL), 1); }
    /// As the child of a fork has it.
    [[nodiscard]] base::descriptor copy() const { return base::descriptor{::dup(here_.get())}; }
    [[nodiscard]] int number() const { return here_.get(); }
    void close() {
        registration_.end();
        here_.reset();
    }

private:
    base::descriptor here_;
    base::descriptor there_;
    poller::registration registration_;
};

std::vector<poller::tag> tags(std::span<poller::event const> events) {
    std::vector<poller::tag> out;
    for (auto const& each : events)
        out.push_back(each.about);
    return out;
}

using tag_list = std::vector<poller::tag>;

bool is_readable(int descriptor) {
    pollfd wanted{descriptor, POLLIN, 0};
    return ::poll(&wanted, 1, 0) == 1;
}

TEST(net_poller, ends_for_a_descriptor_for_a_wake_and_for_time) {
    poller events;
    channel one;
    one.watch(events, 7);
    auto const end = boot_clock::now() + 20ms;
    EXPECT_EQ(tags(events.wait(end)), tag_list{});
    EXPECT_GE(boot_clock::now(), end);
    one.say_something();
    EXPECT_EQ(tags(events.wait()), tag_list{7});
    EXPECT_EQ(tags(events.wait()), tag_list{7}) << "as long as it is not read";
    one.close();
    events.wake();
    EXPECT_EQ(tags(events.wait()), tag_list{}) << "or it would never end";
}

TEST(net_poller, a_moment_that_has_passed_ends_a_wait_at_once_and_shows_what_is_ready) {
    poller events;
    channel one;
    one.watch(events, 7);
    EXPECT_EQ(tags(events.wait(boot_clock::now() - 1s)), tag_list{});
    one.say_something();
    EXPECT_EQ(tags(events.wait(boot_clock::now() - 1s)), tag_list{7});
}

TEST(net_poller, tells_many_apart_and_looks_only_for_what_is_wanted) {
    poller events;
    std::vector<channel> all{40};
    poller::tag next = 100;
    for (auto& each : all)
        each.watch(events, next++);
    all[3].say_something();
    all[39].say_something();
    auto found = tags(events.wait());
    std::ranges::sort(found);
    EXPECT_EQ(found, (tag_list{103, 139}));
    all[3].want(0);
    EXPECT_EQ(tags(events.wait()), tag_list{139});
    all[39].want(EPOLLOUT);
    auto const writable = events.wait();
    ASSERT_EQ(tags(writable), tag_list{139});
    EXPECT_EQ(writable[0].kinds, static_cast<std::uint32_t>(EPOLLOUT));
}

TEST(net_poller, more_than_one_wait_can_tell_of_are_all_told) {
    poller events;
    std::vector<channel> all{40};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].watch(events, i, EPOLLIN | EPOLLONESHOT);
        all[i].say_something();
    }
    tag_list found;
    while (found.size() < all.size())
        for (auto const about : tags(events.wait(boot_clock::now() + 10s)))
            found.push_back(about);
    std::ranges::sort(found);
    EXPECT_EQ(std::ranges::unique(found).size(), 0U);
}

TEST(net_poller, a_wake_reaches_the_next_wait_unless_it_is_forgotten) {
    poller events;
    events.wake();
    events.forget_wakes();
    auto const end = boot_clock::now() + 10ms;
    (void)events.wait(end);
    EXPECT_GE(boot_clock::now(), end);
}

TEST(net_poller, a_wake_from_another_thread_ends_a_wait) {
    poller events;
    for (int i = 0; i < 200; ++i) {
        std::jthread const other{[&] { events.wake(); }};
        (void)events.wait();  // or it would never end
    }
}

TEST(net_poller, an_earlier_moment_stays_and_a_later_one_is_reached_all_the_same) {
    poller events;
    auto const begin = boot_clock::now();
    events.wake_by(begin + 20ms);
    events.wake_by(begin + 10s);
    (void)events.wait();
    EXPECT_LT(boot_clock::now(), begin + 9s);
    events.wake_by(boot_clock::now() + 10s);
    events.wake_by(begin + 30ms);
    (void)events.wait();
    EXPECT_GE(boot_clock::now(), begin + 30ms);
    EXPECT_LT(boot_clock::now(), begin + 9s);
}

TEST(net_poller, whoever_expects_an_answer_soon_hears_of_all_the_same_things) {
    poller waits;
    channel line;
    line.watch(waits, 7);
    std::thread speaker{[&] { line.say_something(); }};
    while (tags(waits.wait(base::never, true)).empty()) {}
    speaker.join();
    poller idle;
    std::thread waker{[&] { idle.wake(); }};
    EXPECT_TRUE(idle.wait(base::never, true).empty());
    waker.join();
    idle.wake();
    EXPECT_TRUE(idle.wait(base::never, true).empty()) << "it was woken before it began";
    auto const end = boot_clock::now() + 2ms;
    while (boot_clock::now() < end)
        EXPECT_TRUE(idle.wait(end, true).empty());
}

std::chrono::nanoseconds spent_by_this_thread() {
    timespec out{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &out);
    return std::chrono::seconds{out.tv_sec} + std::chrono::nanoseconds{out.tv_nsec};
}

std::chrono::nanoseconds spent_on_waits(poller& by, bool soon) {
    auto const before = spent_by_this_thread();
    for (int i = 0; i < 2000; ++i)
        by.wait(boot_clock::now() + 100us, soon);
    return spent_by_this_thread() - before;
}

TEST(net_poller, where_answers_take_long_it_learns_to_sleep_at_once) {
    poller waits;
    auto const asleep = spent_on_waits(waits, false);
    auto const learning = spent_on_waits(waits, true);
    EXPECT_LT(learning, asleep * 2 + 40ms) << "each wait for itself would take 120 ms more";
}

TEST(net_poller, begins_to_watch_while_another_thread_waits) {
    poller events;
    channel late;
    late.say_something();
    std::jthread const other{[&] { late.watch(events, 5); }};
    EXPECT_EQ(tags(events.wait()), tag_list{5});
}

TEST(net_poller, a_descriptor_with_the_number_of_another_is_seen) {
    poller events;
    channel first;
    first.watch(events, 1);
    auto const number = first.number();
    first.close();
    channel second;
    EXPECT_EQ(second.number(), number) << "the system gives the lowest one";
    second.watch(events, 2);
    second.say_something();
    EXPECT_EQ(tags(events.wait()), tag_list{2});
}

TEST(net_poller, a_closed_descriptor_that_a_child_still_has_is_not_reported) {
    poller events;
    channel gone;
    auto const childs = gone.copy();
    gone.watch(events, 1);
    gone.say_something();
    gone.close();
    channel present;
    present.watch(events, 2);
    auto const end = boot_clock::now() + 30ms;
    EXPECT_EQ(tags(events.wait(end)), tag_list{});
    EXPECT_GE(boot_clock::now(), end);
    present.say_something();
    EXPECT_EQ(tags(events.wait()), tag_list{2});
}

TEST(net_poller, what_ends_in_a_child_of_a_fork_stays_watched_in_the_parent) {
    poller events;
    channel shared;
    shared.watch(events, 1);
    auto const child = ::fork();
    if (child == 0) {
        shared.close();
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    shared.say_something();
    EXPECT_EQ(tags(events.wait(boot_clock::now() + 10s)), tag_list{1});
}

/// Many pollers, one thread: each shows by one descriptor whether it has anything to tell.
TEST(net_poller, is_watched_by_another_poller) {
    poller inner;
    channel one;
    one.watch(inner, 1);
    inner.wake();  // before anybody knew that it would be watched
    poller outer;
    auto const nested = outer.add(inner.descriptor(), EPOLLIN, 50);
    EXPECT_EQ(tags(outer.wait(boot_clock::now() + 10s)), tag_list{50});
    (void)inner.wait(boot_clock::now());
    EXPECT_FALSE(is_readable(inner.descriptor())) << "all is told";

    one.say_something();
    EXPECT_EQ(tags(outer.wait(boot_clock::now() + 10s)), tag_list{50});
    EXPECT_EQ(tags(inner.wait(boot_clock::now())), tag_list{1});
    one.close();

    inner.wake_by(boot_clock::now() + 10ms);
    EXPECT_EQ(tags(outer.wait(boot_clock::now() + 10s)), tag_list{50});
    (void)inner.wait(boot_clock::now());

    std::jthread const other{[&] { inner.wake(); }};
    EXPECT_EQ(tags(outer.wait(boot_clock::now() + 10s)), tag_list{50});
}

}  // namespace
}  // namespace holdfast::net
