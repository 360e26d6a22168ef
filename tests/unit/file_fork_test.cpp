// Processes that fork: holds stay with the parent, unless their presence is shared on purpose.
#include <atomic>
#include <mutex>
#include <thread>

#include "stores/file/forks.hpp"
#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

class file_fork : public testing::Test {
protected:
    scratch_directory directory;
    std::string const url = "file:" + (directory / "locks.db");
};

TEST_F(file_fork, a_fork_leaves_the_hold_with_the_parent_alone) {
    child_process parent{[&](child_process& self) {
        peer mine{url};
        mine.submit(mine.claim("x"));
        // The grandchild inherits every descriptor and lives on.
        auto const grandchild = ::fork();
        if (grandchild == 0) {
            mine.store().abandon_in_child();
            bool const refused = error_of(mine.submit(mine.claim("y"))).is(errc::closed);
            if (!refused) ::_exit(1);
            self.reach();
            self.linger();
        }
        self.reach();
        self.await();
        return 0;
    }};
    parent.await();
    parent.await();
    peer mine{url};
    EXPECT_TRUE(is_refused(mine.submit(mine.claim("x")), seam::refusal::busy));
    parent.kill();
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
}

// As the command of `holdfast run` does: what uses a hold keeps it from being taken for a dead one's.
TEST_F(file_fork, who_shares_the_presence_of_a_dead_process_keeps_its_hold) {
    auto parent = std::make_unique<child_process>([&](child_process& self) {
        peer mine{url};
        mine.submit(mine.claim("x"));
        auto const shared = mine.store().presence();
        if (!shared) return 1;
        if (::fork() == 0) {
            self.reach();
            self.linger();
        }
        self.reach();
        self.await();
        return 0;
    });
    parent->await();
    parent->await();
    parent->kill();
    peer mine{url};
    EXPECT_TRUE(is_refused(mine.submit(mine.claim("x")), seam::refusal::busy));
    auto const waiting = mine.claim("x");
    ASSERT_TRUE(is_queued(mine.submit(waiting, true)));
    EXPECT_FALSE(mine.next<seam::claim_granted>(1500ms));  // nor by the look of once a second
    parent.reset();
    auto const told = mine.next<seam::claim_granted>();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->id, waiting.id);
}

TEST_F(file_fork, there_is_no_presence_to_share_before_the_first_request_or_in_a_child) {
    peer mine{url};
    EXPECT_FALSE(mine.store().presence());
    mine.send(seam::hello{});
    EXPECT_TRUE(mine.store().presence());
    child_process child{[&](child_process&) { return mine.store().presence() ? 1 : 0; }};
    EXPECT_EQ(child.wait(), 0);
}

TEST_F(file_fork, a_child_may_use_the_file_that_its_parent_has_open) {
    peer mine{url};
    auto const held = mine.claim("x");
    mine.submit(held);
    child_process child{[&](child_process& self) {
        {
            peer its{url};
            if (!is_refused(its.submit(its.claim("x")), seam::refusal::busy)) return 1;
            auto const waiting = its.claim("x");
            if (!is_queued(its.submit(waiting, true))) return 2;
            self.reach();
            if (!its.next<seam::claim_granted>()) return 3;
            if (its.settle(waiting) != seam::ending::released) return 4;
        }
        return 0;
    }};
    child.await();
    EXPECT_EQ(mine.settle(held), seam::ending::released);
    EXPECT_EQ(child.wait(), 0);
    EXPECT_TRUE(is_granted(mine.submit(mine.claim("x"))));
}

/// Two numbers that are equal whenever nobody is at work on them.
class pair_of_numbers final : public stores::file::forks::party {
public:
    void hold_still() noexcept override { mutex_.lock(); }
    void go_on() noexcept override { mutex_.unlock(); }
    sqlite3* part() noexcept override { return nullptr; }

    void count() {
        std::lock_guard const guard{mutex_};
        ++first_;
        std::this_thread::yield();
        ++second_;
    }
    [[nodiscard]] bool equal() const noexcept { return first_ == second_; }

private:
    std::mutex mutex_;
    std::atomic<int> first_{0};
    std::atomic<int> second_{0};
};

TEST_F(file_fork, a_fork_finds_everybody_standing_still) {
    pair_of_numbers numbers;
    std::atomic<bool> stop{false};
    std::thread busy{[&] {
        while (!stop)
            numbers.count();
    }};
    for (int i = 0; i < 100; ++i) {
        child_process child{[&](child_process&) { return numbers.equal() ? 0 : 1; }};
        EXPECT_EQ(child.wait(), 0);
    }
    stop = true;
    busy.join();
}

// The allocators of the sanitizers, unlike that of the C library, may be locked for ever in a child that
// was forked while another thread was in them. There nobody is in them at that moment.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool allocator_forks = false;
#else
constexpr bool allocator_forks = true;
#endif

TEST_F(file_fork, a_fork_waits_for_transactions_of_other_threads) {
    peer mine{url};
    std::atomic<bool> stop{false};
    std::atomic<bool> forking{false};
    std::mutex allocating;
    auto const in_allocator = [&] {
        return allocator_forks ? std::unique_lock<std::mutex>{} : std::unique_lock{allocating};
    };
    std::thread busy{[&] {
        while (!stop) {
            forking.wait(true);
            auto const guard = in_allocator();
            auto const it = mine.claim("x");
            mine.submit(it);
            mine.settle(it);
        }
    }};
    for (int i = 0; i < 20; ++i) {
        forking = !allocator_forks;
        auto guard = in_allocator();
        child_process child{[&](child_process&) {
            peer its{url};
            auto const own = its.claim("y");
            return is_granted(its.submit(own)) ? 0 : 1;
        }};
        if (guard) guard.unlock();
        forking = false;
        forking.notify_one();
        EXPECT_EQ(child.wait(), 0);
    }
    stop = true;
    busy.join();
}

}  // namespace
}  // namespace holdfast::test
