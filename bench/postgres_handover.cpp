// Fair hand-over between processes on PostgreSQL, at 8 and at 64 waiters: beside the driver with the least that can hand
// a lock on in order, and beside the server's own advisory lock, in as many processes.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <libpq-fe.h>

#include <holdfast/holdfast.hpp>

#include "base/url.hpp"
#include "crowd.hpp"
#include "duel.hpp"
#include "open_line.hpp"
#include "stores/postgres/driver.hpp"

namespace {

namespace compare = holdfast::stores::compare;
namespace postgres = holdfast::stores::postgres;

constexpr int rounds = 5;
constexpr std::chrono::milliseconds span{2'000};

/// Locks and unlocks by turns, until all is over.
template <class Lock>
void take_turns(Lock& lock, bench::tally& all, int who) {
    ++all.ready;
    while (!all.over) {
        lock.lock();
        all.enter(who);
        all.leave();
        lock.unlock();
    }
}

/// Waiters of an advisory lock are served in the order in which they came, and each keeps a connection busy.
class advisory_lock {
public:
    explicit advisory_lock(std::string const& url)
        : connection_{PQconnectdb(url.c_str()), &PQfinish} {
        for (auto const& [name, text] : {std::pair{"take", "SELECT pg_advisory_lock(42)"},
                                         {"give", "SELECT pg_advisory_unlock(42)"}})
            require(PQprepare(connection_.get(), name, text, 0, nullptr), PGRES_COMMAND_OK);
    }

    void lock() { ask("take"); }
    void unlock() { ask("give"); }

private:
    void ask(char const* name) {
        require(PQexecPrepared(connection_.get(), name, 0, nullptr, nullptr, nullptr, 1),
                PGRES_TUPLES_OK);
    }
    void require(PGresult* result, ExecStatusType wanted) {
        auto const found = PQresultStatus(result);
        PQclear(result);
        if (found != wanted) throw std::runtime_error{PQerrorMessage(connection_.get())};
    }

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

bench::crowd::member ours(std::string const& url) {
    return [url](bench::tally& all, int who) {
        holdfast::client client{url};
        holdfast::mutex mutex{client, "bench/crowd", {.order = holdfast::ordering::fair}};
        client.ping();
        take_turns(mutex, all, who);
    };
}

bench::crowd::member bare(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::bare_member self{[&](compare::driver_events& events) {
            return std::make_unique<postgres::driver>(
                postgres::settings::parse(holdfast::base::url::parse(url)), events,
                [](auto, auto const&) {});
        }};
        take_turns(self, all, who);
    };
}

bench::crowd::member advisory(std::string const& url) {
    return [url](bench::tally& all, int who) {
        advisory_lock self{url};
        take_turns(self, all, who);
    };
}

/// Hand-overs per second. One more than the waiters: somebody holds.
double rate(int waiters, bench::crowd::member const& life) {
    bench::crowd const all{waiters + 1, 1, life};
    all.settle_in();
    auto const before = all.changes();
    auto const took = bench::seconds([] { bench::crowd::pause(span); });
    return double(all.changes() - before) / took;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: postgres_handover postgres://USER@HOST:PORT/DATABASE\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    for (int const waiters : {8, 64}) {
        auto const row = "postgres: fair hand-over between processes, " + std::to_string(waiters) +
                         " of them waiting";
        bench::side const mine{"holdfast::mutex, fair", [&] { return rate(waiters, ours(url)); }};
        bench::duel(row.c_str(), mine,
                    {"the driver, an open line by hand", [&] { return rate(waiters, bare(url)); }},
                    rounds, 0.9);
        bench::duel(row.c_str(), mine,
                    {"pg_advisory_lock as a queue", [&] { return rate(waiters, advisory(url)); }},
                    rounds, 1.0);
    }
}
