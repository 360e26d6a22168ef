// The statement that is found everywhere, as a lock: what it lets through is what the tests of crowds look for.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mysql/driver_fixture.hpp"

namespace holdfast::mysql_tests {
namespace {

/// A row for each name, with its end as the mark of whoever has won: two that begin in the same microsecond write the
/// same one. Thread-safety: none.
class upsert_lock {
public:
    explicit upsert_lock(std::string owner) : owner_{std::move(owner)} {}

    bool try_lock() {
        connection_.run(
            "INSERT INTO upsert_lock (name, owner, ends) VALUES ('q', '" + owner_ +
            "', NOW(6) + INTERVAL 60 SECOND) ON DUPLICATE KEY UPDATE ends = IF(owner IS NULL OR "
            "ends < NOW(6), VALUES(ends), ends), owner = IF(ends = VALUES(ends), VALUES(owner), "
            "owner)");
        // One row was made, or changed: it is ours.
        return connection_.affected() > 0;
    }
    /// As long as it takes to ask for something.
    void work() { connection_.run("DO 1"); }
    void unlock() { connection_.run("UPDATE upsert_lock SET owner = NULL WHERE name = 'q'"); }

private:
    sql_connection connection_;
    std::string owner_;
};

/// How often somebody was inside beside somebody else, in a crowd that ends with the first time or after `most` visits.
template <class Lock>
int doubles_of(std::vector<std::unique_ptr<Lock>>& crowd, int most) {
    std::atomic<int> inside{0};
    std::atomic<int> doubles{0};
    std::atomic<int> visits{0};
    std::vector<std::jthread> threads;
    for (auto& each : crowd)
        threads.emplace_back([&, lock = each.get()] {
            while (visits < most && doubles == 0) {
                if (!lock->try_lock()) continue;
                ++visits;
                if (++inside != 1) ++doubles;
                lock->work();
                --inside;
                lock->unlock();
            }
        });
    threads.clear();
    return doubles;
}

TEST(mysql_upsert, two_hold_it_at_once) {
    server().ask(
        "CREATE TABLE upsert_lock (name VARBINARY(60) PRIMARY KEY, owner VARCHAR(60), ends "
        "DATETIME(6))");
    std::vector<std::unique_ptr<upsert_lock>> crowd;
    for (int i = 0; i < 8; ++i)
        crowd.push_back(std::make_unique<upsert_lock>(std::to_string(i)));
    EXPECT_GT(doubles_of(crowd, 1'000'000), 0) << "the test of crowds would not see a double hold";
}

}  // namespace
}  // namespace holdfast::mysql_tests
