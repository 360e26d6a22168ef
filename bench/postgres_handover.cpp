// Fair hand-over between processes on PostgreSQL, at 8 and at 64 waiters: beside the driver with the least that can hand
// a lock on in order, and beside the server's own advisory lock, in as many processes.
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <libpq-fe.h>

#include "base/url.hpp"
#include "handover.hpp"
#include "open_line.hpp"
#include "stores/postgres/driver.hpp"

namespace {

namespace postgres = holdfast::stores::postgres;

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

bench::crowd::member bare(std::string const& url) {
    return [url](bench::tally& all, int who) {
        bench::bare_member self{[&](bench::compare::driver_events& events) {
            return std::make_unique<postgres::driver>(
                postgres::settings::parse(holdfast::base::url::parse(url)), events,
                [](auto, auto const&) {});
        }};
        bench::take_turns(self, all, who);
    };
}

bench::crowd::member advisory(std::string const& url) {
    return [url](bench::tally& all, int who) {
        advisory_lock self{url};
        bench::take_turns(self, all, who);
    };
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: postgres_handover postgres://USER@HOST:PORT/DATABASE\n", stderr);
        return 2;
    }
    constexpr std::array waiters{8, 64};
    std::string const url = argv[1];
    bench::contender const ours{"holdfast::mutex, fair", bench::fair_mutex(url)};
    bench::handover_duels("postgres", waiters, ours,
                          {"the driver, an open line by hand", bare(url)}, 0.9);
    bench::handover_duels("postgres", waiters, ours, {"pg_advisory_lock as a queue", advisory(url)},
                          1.0);
}
