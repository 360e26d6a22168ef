// The raw limit of the PostgreSQL rows: libpq alone, and the statements that the store itself would send.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <libpq-fe.h>

#include "base/random.hpp"
#include "stores/postgres/answer.hpp"
#include "stores/postgres/statements.hpp"

namespace bench {

namespace compare = holdfast::stores::compare;

/// A connection that sends an exchange and waits for its answers, in the thread that asks. It has a session, and takes
/// and gives back a name as a client does whom nobody contends with. Not thread-safe.
class bare_client {
public:
    explicit bare_client(std::string const& url)
        : connection_{PQconnectdb(url.c_str()), &PQfinish},
          session_{static_cast<compare::session_id>(holdfast::base::entropy() >> 1)} {
        require(PQstatus(connection_.get()) == CONNECTION_OK);
        require(PQenterPipelineMode(connection_.get()) == 1);
        auto const opened = ask({statements_.open(session_, std::chrono::hours{1}, "nobody", "")});
        generation_ = stamp_in(opened.front(), 2);
    }

    /// Both waited for.
    void pair(std::string const& name) {
        compare::step take{.key = {name}, .self = session_, .of = generation_};
        take.not_after = holdfast::seam::store_time::max();
        take.nobody_behind = 0;
        take.head =
            compare::head_write{.body = std::string(body_bytes, 'b'), .sessions = {session_}};
        take.append_otherwise = {
            {.id = {}, .session = session_, .body = std::string(body_bytes, 'b')}};
        auto const taken = ask({statements_.step(take), statements_.look_behind(take.key)});
        compare::step give{.key = {name}, .self = session_, .of = generation_};
        give.expected = stamp_in(taken.front(), 3);
        give.nobody_behind = 0;
        give.head = compare::head_write{.erase = true};
        auto const given = ask({statements_.step(give), statements_.look_behind(give.key)});
        if (given.front().is_null(0, 3))
            throw std::runtime_error{"somebody else has '" + name + "'"};
    }

    /// The least that two commits cost.
    void write_twice(std::string const& name) {
        write("bench_put", "INSERT INTO bench_bare (name) VALUES ($1)", name);
        write("bench_erase", "DELETE FROM bench_bare WHERE name = $1", name);
    }
    void make_table_for_writes() {
        write("bench_make", "CREATE TABLE IF NOT EXISTS bench_bare (name text PRIMARY KEY)", {});
    }

private:
    using statement = holdfast::stores::postgres::statement;
    using rows = holdfast::stores::postgres::rows;
    /// About what a head takes in the store.
    static constexpr std::size_t body_bytes = 150;

    static compare::stamp stamp_in(rows const& from, int column) {
        return compare::stamp{static_cast<std::uint64_t>(from.number(0, column))};
    }

    void require(bool met) const {
        if (!met) throw std::runtime_error{PQerrorMessage(connection_.get())};
    }

    void put(statement const& what) {
        std::vector<char const*> values;
        std::vector<int> lengths;
        std::vector<int> formats;
        for (auto const& each : what.parameters()) {
            values.push_back(each.value ? each.value->data() : nullptr);
            lengths.push_back(each.value ? static_cast<int>(each.value->size()) : 0);
            formats.push_back(each.binary ? 1 : 0);
        }
        require(PQsendQueryPrepared(connection_.get(), what.text().name.c_str(),
                                    static_cast<int>(values.size()), values.data(), lengths.data(),
                                    formats.data(), 1) == 1);
        require(PQpipelineSync(connection_.get()) == 1);
    }

    void prepare(std::string const& name, std::string const& words) {
        if (!prepared_.insert(name).second) return;
        require(PQsendPrepare(connection_.get(), name.c_str(), words.c_str(), 0, nullptr) == 1);
        require(PQpipelineSync(connection_.get()) == 1);
        (void)next();
    }

    void write(char const* statement_name, char const* words,
               std::optional<std::string> const& value) {
        prepare(statement_name, words);
        char const* const values[] = {value ? value->c_str() : nullptr};
        require(PQsendQueryPrepared(connection_.get(), statement_name, value ? 1 : 0, values,
                                    nullptr, nullptr, 1) == 1);
        require(PQpipelineSync(connection_.get()) == 1);
        (void)next();
    }

    rows next() {
        for (;;) {
            auto* const found = PQgetResult(connection_.get());
            if (found == nullptr) continue;
            rows out{found};
            if (PQresultStatus(found) == PGRES_PIPELINE_SYNC) continue;
            require(out.done());
            return out;
        }
    }

    std::vector<rows> ask(std::vector<statement> const& all) {
        for (auto const& each : all)
            prepare(each.text().name, each.text().words);
        for (auto const& each : all)
            put(each);
        std::vector<rows> out;
        for (std::size_t i = 0; i < all.size(); ++i)
            out.push_back(next());
        return out;
    }

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
    holdfast::stores::postgres::statements statements_{"holdfast_"};
    std::set<std::string> prepared_;
    compare::session_id session_;
    compare::stamp generation_{};
};

}  // namespace bench
