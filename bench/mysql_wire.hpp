// The raw limit of the MySQL rows: libmariadb alone, and the packets that the store itself would send.
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mysql.h>

#include "base/random.hpp"
#include "base/url.hpp"
#include "stores/mysql/schema.hpp"
#include "stores/mysql/settings.hpp"
#include "stores/mysql/statements.hpp"

namespace bench {

namespace compare = holdfast::stores::compare;
namespace mysql = holdfast::stores::mysql;

/// A connection that sends a packet and waits for its answers, in the thread that asks. Not thread-safe.
class wire {
public:
    explicit wire(std::string const& url) : connection_{::mysql_init(nullptr), &::mysql_close} {
        auto const to = mysql::settings::parse(holdfast::base::url::parse(url));
        unsigned const tcp = MYSQL_PROTOCOL_TCP;
        ::mysql_options(connection_.get(), MYSQL_OPT_PROTOCOL, &tcp);
        require(::mysql_real_connect(connection_.get(), to.host.c_str(), to.user.c_str(), nullptr,
                                     to.database.c_str(), to.port, nullptr,
                                     CLIENT_MULTI_STATEMENTS) != nullptr);
        (void)ask(tables_.filled(mysql::schema::greeting(1), false));
    }

    mysql::answer ask(std::string const& text) {
        require(::mysql_real_query(connection_.get(), text.data(), text.size()) == 0);
        mysql::answer out;
        int more = 0;
        do {
            std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> const found{
                ::mysql_store_result(connection_.get()), &::mysql_free_result};
            if (!found) continue;
            auto& rows = out.results.emplace_back();
            while (MYSQL_ROW const cells = ::mysql_fetch_row(found.get())) {
                auto& one = rows.emplace_back();
                for (unsigned i = 0; i < ::mysql_num_fields(found.get()); ++i)
                    cells[i] == nullptr ? one.emplace_back() : one.emplace_back(cells[i]);
            }
        } while ((more = ::mysql_next_result(connection_.get())) == 0);
        require(more < 0);
        return out;
    }

    [[nodiscard]] mysql::schema const& tables() const { return tables_; }

private:
    void require(bool met) const {
        if (!met) throw std::runtime_error{::mysql_error(connection_.get())};
    }

    std::unique_ptr<MYSQL, decltype(&::mysql_close)> connection_;
    mysql::schema tables_{"holdfast_"};
};

/// Has a session, and takes and gives back a name as a client does whom nobody contends with.
class bare_client {
public:
    explicit bare_client(std::string const& url)
        : wire_{url}, session_{static_cast<compare::session_id>(holdfast::base::entropy() >> 1)} {
        auto const opened = ask(mysql::packets::open(session_, std::chrono::hours{1}, ""));
        generation_ = compare::stamp{mysql::number_in(opened.first()[1])};
    }

    /// Both waited for.
    void pair(std::string const& name) {
        compare::step take{.key = {name}, .self = session_, .of = generation_};
        take.not_after = holdfast::seam::store_time::max();
        take.nobody_behind = 0;
        take.head =
            compare::head_write{.body = std::string(body_bytes, 'b'), .sessions = {session_}};
        auto const taken = ask(mysql::packets::first_branch(take));
        compare::step give{.key = {name}, .self = session_, .of = generation_};
        give.expected = compare::stamp{mysql::number_in(taken.first()[2])};
        give.nobody_behind = 0;
        give.head = compare::head_write{.erase = true};
        auto const given = ask(mysql::packets::first_branch(give));
        if (!given.first()[2]) throw std::runtime_error{"somebody else has '" + name + "'"};
    }

    /// The least that two durable commits cost.
    void write_twice(std::string const& name) {
        auto const row = mysql::literal(name);
        (void)wire_.ask("INSERT INTO bench_bare (name) VALUES (" + row + ")");
        (void)wire_.ask("DELETE FROM bench_bare WHERE name=" + row);
    }
    void make_table_for_writes() {
        (void)wire_.ask("CREATE TABLE IF NOT EXISTS bench_bare (name VARBINARY(512) PRIMARY KEY)");
    }

    /// The server's own lock, which neither outlives its connection nor has a token.
    void get_lock(std::string const& name) {
        (void)wire_.ask("SELECT GET_LOCK(" + mysql::literal(name) + ",60)");
    }
    void release_lock(std::string const& name) {
        (void)wire_.ask("SELECT RELEASE_LOCK(" + mysql::literal(name) + ")");
    }

private:
    /// About what a head takes in the store.
    static constexpr std::size_t body_bytes = 150;

    mysql::answer ask(std::string const& packet) {
        return wire_.ask(wire_.tables().filled(packet, false));
    }

    wire wire_;
    compare::session_id session_;
    compare::stamp generation_{};
};

}  // namespace bench
