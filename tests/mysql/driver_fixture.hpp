// Drivers of MySQL that reach a private server, and an operator's connection to it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <mysql.h>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "compare/client.hpp"
#include "stores/mysql/driver.hpp"
#include "support/eventually.hpp"
#include "support/mysql_server.hpp"

namespace holdfast::mysql_tests {

using namespace std::chrono_literals;
namespace compare = stores::compare;
namespace mysql = stores::mysql;
using driver_tests::client;
using driver_tests::expect;
using support::eventually;

inline compare::session_id new_session() { return compare::session_id{base::entropy() >> 1}; }

inline std::string words_of(compare::session_id id) {
    return std::to_string(static_cast<std::uint64_t>(id));
}

/// Started when the first test needs it, and kept until the process ends. As odd as an operator may have made it.
inline support::mysql_server& server() {
    static support::mysql_server one{{.arguments = {"--sysdate-is-now"}}};
    return one;
}

inline client::maker driver_of(std::string const& prefix, bool numbers_from_rows,
                               std::string const& url = server().url()) {
    return [=](compare::driver_events& events) {
        auto wanted = mysql::settings::parse(base::url::parse(url));
        wanted.prefix = prefix;
        wanted.numbers_from_rows = numbers_from_rows;
        return std::make_unique<mysql::driver>(std::move(wanted), events,
                                               [](log_level, std::string const&) {});
    };
}

/// A client with a session of its own.
struct party {
    explicit party(std::string const& prefix = "holdfast_", bool numbers_from_rows = false,
                   std::chrono::milliseconds lease = 60s, std::string const& url = server().url())
        : self{driver_of(prefix, numbers_from_rows, url)},
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

/// An operator's connection, in which a transaction can stay open. Every call is waited for. Thread-safety: none.
class sql_connection {
public:
    sql_connection() : link_{::mysql_init(nullptr), &::mysql_close} {
        auto const socket = server().socket();
        EXPECT_NE(::mysql_real_connect(link_.get(), nullptr, "root", nullptr, "holdfast", 0,
                                       socket.c_str(), CLIENT_MULTI_STATEMENTS),
                  nullptr)
            << ::mysql_error(link_.get());
    }

    mysql::answer run(std::string const& sql) {
        mysql::answer out;
        EXPECT_EQ(::mysql_real_query(link_.get(), sql.data(), sql.size()), 0)
            << ::mysql_error(link_.get());
        do {
            std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> const found{
                ::mysql_store_result(link_.get()), &::mysql_free_result};
            if (!found) continue;
            auto& rows = out.results.emplace_back();
            while (MYSQL_ROW const cells = ::mysql_fetch_row(found.get())) {
                auto const* const lengths = ::mysql_fetch_lengths(found.get());
                auto& one = rows.emplace_back();
                for (unsigned i = 0; i < ::mysql_num_fields(found.get()); ++i)
                    cells[i] == nullptr ? one.emplace_back()
                                        : one.emplace_back(std::string{cells[i], lengths[i]});
            }
        } while (::mysql_next_result(link_.get()) == 0);
        EXPECT_EQ(::mysql_errno(link_.get()), 0U) << ::mysql_error(link_.get());
        return out;
    }

private:
    std::unique_ptr<MYSQL, decltype(&::mysql_close)> link_;
};

/// Somebody waits for a row that somebody else has locked. The table of transactions is no help: it is not brought up to
/// date while it is asked again and again.
inline bool somebody_waits_for_a_lock() {
    return server().ask(
               "SELECT variable_value FROM information_schema.global_status WHERE variable_name = "
               "'INNODB_ROW_LOCK_CURRENT_WAITS'") != "0\n";
}

}  // namespace holdfast::mysql_tests
