// Lock and unlock on file: beside the same two transactions by hand, on one thread.
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <sqlite3.h>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"

namespace {

constexpr int pairs = 1'000;

// The least that a lock in SQLite must do: one transaction that adds a row, one that removes it.
class by_hand {
public:
    explicit by_hand(std::string const& path) {
        if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) std::abort();
        run("PRAGMA journal_mode=WAL");
        run("PRAGMA synchronous=NORMAL");
        run("CREATE TABLE IF NOT EXISTS t(name TEXT PRIMARY KEY, owner INTEGER, expires INTEGER)");
    }
    ~by_hand() { sqlite3_close(db_); }
    by_hand(by_hand const&) = delete;
    by_hand& operator=(by_hand const&) = delete;

    double rate() {
        return pairs / bench::seconds([&] {
                   for (int i = 0; i < pairs; ++i) {
                       run("BEGIN IMMEDIATE; INSERT INTO t VALUES('bench', 1, 2); COMMIT");
                       run("BEGIN IMMEDIATE; DELETE FROM t WHERE name='bench'; COMMIT");
                   }
               });
    }

private:
    void run(char const* sql) {
        if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
    }

    sqlite3* db_{nullptr};
};

}  // namespace

int main() {
    auto const base = "bench-pair-" + std::to_string(::getpid());
    holdfast::client client{"file:" + base + ".db"};
    holdfast::mutex mutex{client, "bench"};
    by_hand raw{base + "-raw.db"};
    auto const ours = [&] {
        return pairs / bench::seconds([&] {
                   for (int i = 0; i < pairs; ++i)
                       (void)mutex.acquire().release();
               });
    };
    bench::duel("file: lock + unlock, one thread", {"holdfast::mutex, acquire + release", ours},
                {"two SQLite transactions by hand", [&] { return raw.rate(); }}, 9, 0.3);
}
