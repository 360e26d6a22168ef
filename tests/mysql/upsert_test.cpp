// The statement that is found everywhere, as a lock: what it lets through is what the tests of crowds look for. Beside it
// the lock of this library, in the same crowd.
#include <atomic>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <mysql.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mysql/fixture.hpp"
#include "support/counts.hpp"
#include "support/require.hpp"

namespace holdfast::mysql_faults {
namespace {

/// A row for each name, with its end as the mark of whoever has won: two that begin in the same millisecond write the
/// same one. Thread-safety: none.
class upsert_lock {
public:
    upsert_lock(mysql_server const& server, std::string owner)
        : owner_{std::move(owner)}, link_{::mysql_init(nullptr), &::mysql_close} {
        if (::mysql_real_connect(link_.get(), nullptr, "root", nullptr, "holdfast", 0,
                                 server.socket().c_str(), 0) == nullptr)
            throw std::runtime_error{::mysql_error(link_.get())};
    }

    bool try_lock() {
        run("INSERT INTO upsert_lock (name, owner, ends) VALUES ('q', '" + owner_ +
            "', NOW(3) + INTERVAL 60 SECOND) ON DUPLICATE KEY UPDATE ends = IF(owner IS NULL OR "
            "ends < NOW(3), VALUES(ends), ends), owner = IF(ends = VALUES(ends), VALUES(owner), "
            "owner)");
        // One row was made, or changed: it is ours.
        return ::mysql_affected_rows(link_.get()) > 0;
    }
    void unlock() { run("UPDATE upsert_lock SET owner = NULL WHERE name = 'q'"); }

private:
    void run(std::string const& sql) {
        if (::mysql_real_query(link_.get(), sql.data(), sql.size()) != 0)
            throw std::runtime_error{::mysql_error(link_.get())};
    }

    std::string owner_;
    std::unique_ptr<MYSQL, decltype(&::mysql_close)> link_;
};

/// Ours, as it is used most often.
class our_lock {
public:
    explicit our_lock(mysql_server const& server) : client_{server.url(), {.patience = 60s}} {}

    bool try_lock() { return lock_.try_lock(); }
    void unlock() { lock_.unlock(); }

private:
    client client_;
    mutex lock_{client_, "q"};
};

/// What the processes of a crowd share.
struct tally {
    std::atomic<int> inside{0};
    std::atomic<int> doubles{0};
    std::atomic<int> visits{0};
};

template <class Lock>
void take_turns(Lock& lock, tally& all, int most) {
    while (all.visits < most && all.doubles == 0) {
        if (!lock.try_lock()) continue;
        ++all.visits;
        if (++all.inside != 1) ++all.doubles;
        std::this_thread::sleep_for(50us);  // as long as it takes to ask for something
        --all.inside;
        lock.unlock();
    }
}

/// How often a process was inside beside another, in a crowd that ends with the first time or after `most` visits.
template <class Make>
int doubles_of(char const* name, int most, Make make) {
    constexpr int processes = 8;
    auto* const memory =
        ::mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    support::require(memory != MAP_FAILED, "mmap");
    auto& all = *new (memory) tally;
    std::vector<pid_t> crowd;
    for (int i = 0; i < processes; ++i) {
        auto const child = ::fork();
        support::require(child >= 0, "fork");
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            try {
                auto const lock = make(i);
                take_turns(*lock, all, most);
            } catch (std::exception const& error) {
                std::cerr << error.what() << std::endl;
                ::_exit(1);
            }
            ::_exit(0);
        }
        crowd.push_back(child);
    }
    for (auto const each : crowd) {
        int status = 0;
        EXPECT_EQ(::waitpid(each, &status, 0), each);
        EXPECT_EQ(status, 0) << "a process failed";
    }
    int const doubles = all.doubles;
    std::cout << name << ": " << doubles << " double in " << all.visits << " visits" << std::endl;
    ::munmap(memory, sizeof(tally));
    return doubles;
}

class upsert_test : public testing::Test {
protected:
    mysql_server server_;
};

TEST_F(upsert_test, two_hold_it_at_once) {
    server_.ask(
        "CREATE TABLE upsert_lock (name VARBINARY(60) PRIMARY KEY, owner VARCHAR(60), ends "
        "DATETIME(3))");
    auto const doubles = doubles_of("the upsert", 1'000'000, [&](int i) {
        return std::make_unique<upsert_lock>(server_, std::to_string(i));
    });
    EXPECT_GT(doubles, 0) << "the crowd would not see a double hold";
}

TEST_F(upsert_test, our_lock_is_held_by_one_in_the_same_crowd) {
    auto const doubles = doubles_of("holdfast::mutex", support::large_count(40'000),
                                    [&](int) { return std::make_unique<our_lock>(server_); });
    EXPECT_EQ(doubles, 0);
}

}  // namespace
}  // namespace holdfast::mysql_faults
