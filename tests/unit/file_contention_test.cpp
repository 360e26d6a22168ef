// Many processes at one file: nobody is let in beside another, nobody is forgotten.
#include <atomic>
#include <thread>

#include <sys/mman.h>

#include "unit/file_fixture.hpp"

namespace holdfast::test {
namespace {

/// Memory that parent and children share: what the lock guards.
struct guarded {
    std::atomic<int> inside{0};
    std::atomic<int> worst{0};
    std::uint64_t last{0};  ///< the sequence of the last grant
    long count{0};          ///< plain on purpose
    long out_of_order{0};

    void enter(std::uint64_t sequence) {
        auto const now = inside.fetch_add(1) + 1;
        if (now > worst) worst = now;
        if (sequence <= last) ++out_of_order;
        last = sequence;
        ++count;
        inside.fetch_sub(1);
    }
};

class shared_guarded {
public:
    shared_guarded()
        : it_{new (::mmap(nullptr, sizeof(guarded), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) guarded} {}
    shared_guarded(shared_guarded const&) = delete;
    shared_guarded& operator=(shared_guarded const&) = delete;
    ~shared_guarded() { ::munmap(it_, sizeof(guarded)); }
    guarded* operator->() const noexcept { return it_; }

private:
    guarded* it_;
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr long turns = 300;
#else
constexpr long turns = 2000;
#endif

int take_turns(std::string const& url, shared_guarded const& shared, bool queue) {
    peer mine{url};
    auto const spec = peer::spec({.name = "x"});
    for (long done = 0; done < turns;) {
        auto const it = mine.claim(spec);
        auto const answer = mine.submit(it, queue);
        if (is_granted(answer)) {
            shared->enter(number_of(answer));
        } else if (is_queued(answer)) {
            auto const told = mine.next<seam::claim_granted>();
            if (!told || told->id != it.id) return 2;
            shared->enter(static_cast<std::uint64_t>(told->held.number));
        } else if (is_refused(answer, seam::refusal::busy)) {
            continue;
        } else {
            return 3;
        }
        if (mine.settle(it) != seam::ending::released) return 4;
        ++done;
    }
    return 0;
}

void expect_exclusion(int processes, bool queue) {
    scratch_directory const directory;
    auto const url = "file:" + (directory / "locks.db");
    shared_guarded const shared;
    {
        std::vector<std::unique_ptr<child_process>> all;
        for (int i = 0; i < processes; ++i)
            all.push_back(std::make_unique<child_process>(
                [&](child_process&) { return take_turns(url, shared, queue); }));
        for (auto const& each : all)
            EXPECT_EQ(each->wait(), 0);
    }
    EXPECT_EQ(shared->worst, 1);
    EXPECT_EQ(shared->count, processes * turns);
    EXPECT_EQ(shared->out_of_order, 0);
    // The log is moved into the file although somebody writes all the time.
    EXPECT_LT(std::filesystem::file_size(directory / "locks.db-wal"), 16U << 20U);
}

TEST(file_contention, two_processes_that_try) { expect_exclusion(2, false); }

TEST(file_contention, three_processes_that_queue) { expect_exclusion(3, true); }

TEST(file_contention, threads_of_one_client_while_another_drives) {
    scratch_directory const directory;
    peer mine{"file:" + (directory / "locks.db")};
    std::atomic<bool> stop{false};
    std::thread driver{[&] {
        while (!stop)
            mine.store().drive(base::boot_clock::now() + 1ms);
    }};
    std::atomic<int> failures{0};
    std::vector<std::thread> workers;
    for (std::uint64_t worker = 0; worker < 3; ++worker) {
        workers.emplace_back([&, worker] {
            auto const spec = peer::spec({.name = "x" + std::to_string(worker)});
            for (std::uint64_t i = 1; i <= 300; ++i) {
                seam::claim const it{spec, {mine.id(), worker << 32U | i}};
                if (!is_granted(mine.submit(it))) ++failures;
                if (mine.settle(it) != seam::ending::released) ++failures;
            }
        });
    }
    for (auto& each : workers)
        each.join();
    stop = true;
    mine.store().interrupt();
    driver.join();
    EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace holdfast::test
