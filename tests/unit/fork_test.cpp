// A child of a fork that only wants to exec must come to it: what runs in it on our behalf before fork()
// returns uses no allocator, which may be locked for ever by a thread that is not there.
#include <atomic>
#include <cstdlib>
#include <new>

#include <pthread.h>

#include <holdfast/holdfast.hpp>

#include "unit/file_fixture.hpp"

namespace {

std::atomic<bool> watched{false};
std::atomic<int> uses{0};

}  // namespace

// Not inlined: the compiler would take malloc and delete for a pair that does not match.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (watched) ++uses;
    if (void* const out = std::malloc(size)) return out;
    throw std::bad_alloc{};
}

[[gnu::noinline]] void operator delete(void* what) noexcept {
    if (watched) ++uses;
    std::free(what);
}

void operator delete(void* what, std::size_t) noexcept { operator delete(what); }

namespace holdfast::test {
namespace {

TEST(fork_test, nothing_is_allocated_in_a_child_before_fork_returns) {
    // Handlers of children run in the order in which they were installed: ours before and after all.
    ASSERT_EQ(::pthread_atfork(nullptr, nullptr, [] { watched = true; }), 0);
    scratch_directory const directory;
    auto const url = "file:" + (directory / "locks.db");
    client client{"memory:fork"};
    auto const held = mutex{client, "q"}.acquire();
    peer one{url};
    peer two{url};
    EXPECT_TRUE(is_granted(one.submit(one.claim("x"))));
    EXPECT_TRUE(is_granted(two.submit(two.claim("y"))));
    ASSERT_EQ(::pthread_atfork(nullptr, nullptr, [] { watched = false; }), 0);
    child_process child{[](child_process&) {
        int const before = uses.exchange(0);
        // A further generation, with what the first has left over.
        child_process grandchild{[](child_process&) { return uses.load(); }};
        return before + grandchild.wait();
    }};
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace holdfast::test
