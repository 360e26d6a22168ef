// The tables that everything lives in, and what keeps them small.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "stores/postgres/statement.hpp"

namespace holdfast::stores::postgres {

/// Times are microseconds since 1970 by the server's clock, stamps are drawn in units of 32 of them. Names
/// are bytes, so that neither encoding nor collation of the database has a say.
///
/// A head that is erased stays for a while without a body. An insertion draws its stamp before it finds out
/// that nobody else inserts; were a row made, erased and removed in between, the next stamp of the
/// name would be lower than the last. An update of a row that is there draws it under the row's lock.
///
/// Ballots have a table of their own, which tables from before there were any get with the first one: the last one of
/// each name, and that of the name without a letter, the floor, for all names that are not there.
///
/// Thread-safety: immutable.
class schema {
public:
    static constexpr std::int64_t version = 2;

    explicit schema(std::string prefix);

    /// Names of tables, to be put into statements.
    [[nodiscard]] std::string table(char const* name) const { return prefix_ + name; }
    [[nodiscard]] std::string sequence() const { return "nextval('" + prefix_ + "stamp')"; }

    /// -> whether it is a standby, the process id of the backend
    [[nodiscard]] statement_text const& greeting() const noexcept { return greeting_; }
    /// For a connection that nobody else uses; a statement of its waits so long for a lock.
    [[nodiscard]] statement usual_settings(std::chrono::milliseconds longest_wait) const {
        return statement{usual_settings_}.words(std::to_string(longest_wait.count()) + "ms");
    }
    /// -> version, whether the sequence is behind the clock; no row: tables of somebody else
    [[nodiscard]] statement_text const& look() const noexcept { return look_; }
    /// Fails when one of the other tables is not there: each may be gone alone.
    [[nodiscard]] statement_text const& look_for_others() const noexcept {
        return look_for_others_;
    }
    /// Makes the tables that are missing, in one transaction. Where holders or waiters were lost with one, all sessions end:
    /// their clients learn it by their next sign of life.
    [[nodiscard]] std::vector<statement> creation() const;
    /// Moves the sequence up, in one transaction.
    [[nodiscard]] std::vector<statement> catch_up() const;

    /// -> a row for the one client that is to sweep this minute
    [[nodiscard]] statement sweep_turn() const { return statement{sweep_turn_}; }
    /// Removes what the dead have left where nobody looks: with each statement at most so many rows.
    [[nodiscard]] std::vector<statement> sweep() const;
    static constexpr std::int64_t swept_at_once = 5'000;
    /// The same for a client that is about to end; and when there was more: the next one may sweep after a second.
    [[nodiscard]] std::vector<statement> sweep_in_passing() const;
    [[nodiscard]] statement sweep_soon() const { return statement{sweep_soon_}; }
    static constexpr std::int64_t swept_in_passing = 500;

    /// -> whether the table of ballots is there
    [[nodiscard]] statement look_for_ballots() const { return statement{look_for_ballots_}; }
    [[nodiscard]] std::vector<statement> ballots_creation() const;
    /// Ballots of names that are old enough count for all names, and are then removed.
    [[nodiscard]] std::vector<statement> sweep_ballots() const;

    /// All that makes the tables, for people.
    [[nodiscard]] std::string words() const;

private:
    std::string prefix_;
    statement_text greeting_;
    statement_text usual_settings_;
    statement_text look_;
    statement_text look_for_others_;
    statement_text sweep_turn_;
    statement_text sweep_soon_;
    statement_text look_for_ballots_;
    std::vector<statement_text> creation_;
    std::vector<statement_text> ballots_creation_;
    std::vector<statement_text> catch_up_;
    std::vector<statement_text> sweep_;
    std::vector<statement_text> sweep_in_passing_;
    std::vector<statement_text> sweep_ballots_;
};

/// What a ballot for a name has to exceed, as an expression.
[[nodiscard]] std::string ballot_to_exceed(schema const& tables, std::string const& name,
                                           std::string const& condition);

/// The server's time in microseconds.
inline constexpr char const* server_time =
    "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
/// The same in units of stamps.
inline constexpr char const* server_stamp =
    "(extract(epoch FROM clock_timestamp()) * 31250)::bigint";
/// Tells one server, as long as it runs, from all others.
inline constexpr char const* server_clock =
    "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint";

}  // namespace holdfast::stores::postgres
