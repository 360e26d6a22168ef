// Drivers of PostgreSQL that reach a private server, and an operator's connection to it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <libpq-fe.h>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "compare/client.hpp"
#include "stores/postgres/driver.hpp"
#include "support/eventually.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::postgres_tests {

using namespace std::chrono_literals;
namespace compare = stores::compare;
namespace postgres = stores::postgres;
using driver_tests::client;
using driver_tests::expect;
using support::eventually;

inline compare::session_id new_session() { return compare::session_id{base::entropy() >> 1}; }

inline std::string words_of(compare::session_id id) {
    return std::to_string(static_cast<std::uint64_t>(id));
}

/// Started when the first test needs it, and kept until the process ends.
inline support::postgres_server& server() {
    static support::postgres_server one{{.arguments = {"-c", "fsync=off"}}};
    return one;
}

/// A client with a session of its own, in tables of its own when a prefix is given.
struct party {
    explicit party(std::string const& options = "", std::chrono::milliseconds lease = 60s,
                   std::string const& login = "postgres")
        : self{[&](compare::driver_events& events) {
              return std::make_unique<postgres::driver>(
                  postgres::settings::parse(base::url::parse(server().url(login) + options)),
                  events, [](log_level, std::string const&) {});
          }},
          session{new_session()},
          opened{expect<compare::opened>(self.open(session, lease))} {}

    /// Writes a head where there is none.
    [[nodiscard]] compare::step writing(std::string const& name, std::string body) const {
        compare::step out{.key = {name, false}, .self = session, .of = opened.current};
        out.head = compare::head_write{.body = std::move(body)};
        out.otherwise.key = out.key;
        return out;
    }
    compare::committed commit(compare::step const& what) {
        return expect<compare::committed>(self.commit(what));
    }
    [[nodiscard]] compare::view look(std::string const& name) {
        return self.look({.key = {name, false}, .line = compare::name_query::whole_line});
    }

    client self;
    compare::session_id session;
    compare::opened opened;
};

/// An operator's connection, in which a transaction can stay open. Thread-safety: none.
class sql_connection {
public:
    sql_connection()
        : link_{PQconnectdb(("host=127.0.0.1 user=postgres dbname=postgres port=" +
                             std::to_string(server().port()))
                                .c_str()),
                &PQfinish} {
        EXPECT_EQ(PQstatus(link_.get()), CONNECTION_OK) << PQerrorMessage(link_.get());
    }

    /// Carried out, and waited for: the first column of its first row, if there is one.
    std::string run(std::string const& sql) {
        begin(sql);
        return finish();
    }
    /// Sent, and not waited for.
    void begin(std::string const& sql) {
        EXPECT_EQ(PQsendQuery(link_.get(), sql.c_str()), 1) << PQerrorMessage(link_.get());
    }
    std::string finish() {
        std::string out;
        while (PGresult* const each = PQgetResult(link_.get())) {
            std::unique_ptr<PGresult, decltype(&PQclear)> const found{each, &PQclear};
            auto const how = PQresultStatus(each);
            EXPECT_TRUE(how == PGRES_COMMAND_OK || how == PGRES_TUPLES_OK)
                << PQresultErrorMessage(each);
            if (PQntuples(each) > 0) out = PQgetvalue(each, 0, 0);
        }
        return out;
    }

private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> link_;
};

/// Somebody who is not this query waits for this at the server.
inline bool waits_for(std::string const& what) {
    return server().ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = '" + what +
                        "' AND state = 'active'") != "0\n";
}

}  // namespace holdfast::postgres_tests
