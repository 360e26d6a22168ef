// The tables that everything lives in, and what keeps them small.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::stores::mysql {

/// Statements are sent as words with all values in them, several in one packet. Bytes are hexadecimal literals, so that
/// neither quoting nor character sets have a say, and a semicolon always ends a statement.
///
/// Times are microseconds since 1970 by the server's clock, stamps are drawn in units of 32 of them. A stamp is the greatest
/// of a number drawn, of the time, and of what follows the last stamp of the same row.
namespace marks {
/// In texts: the prefix, and the server's time as a statement begins.
inline constexpr char prefix = '%', time = '^';
/// A number that is drawn; and before a statement with one, what must be said first on a server without sequences.
inline constexpr char drawn = '#', draw = '$';
/// On such a server, what removes numbers that were drawn long ago.
inline constexpr char drawn_before = '|';
}  // namespace marks

/// Thread-safety: immutable.
class schema {
public:
    static constexpr std::int64_t version = 1;

    explicit schema(std::string prefix) : prefix_{std::move(prefix)} {}

    /// Replaces the marks. `rows`: numbers come from the rows of a table rather than from a sequence.
    [[nodiscard]] std::string filled(std::string_view text, bool rows) const;

    /// What a connection must be like. -> connection id, server's time, its clock; then, name by name, variables; then for how
    /// many seconds the server has been up
    [[nodiscard]] static std::string greeting(std::int64_t lock_seconds);
    /// -> version. Moves the numbers of tables that are ours up to the time: after a restore they are behind.
    [[nodiscard]] static std::string look(std::int64_t server_time, bool rows);
    /// Makes the tables; those that are there already stay. `galera`: on a node of such a cluster, which takes a sequence only
    /// when its step is left to the node.
    [[nodiscard]] static std::vector<std::string> creation(bool rows, bool galera = false);
    /// The same for a client that has missed a table. Where holders or waiters were lost with it, all sessions end before it is
    /// there again: their clients learn it by their next sign of life.
    [[nodiscard]] static std::vector<std::string> repair(bool rows, bool galera);
    /// Makes the table of ballots, which tables from before there were any do not have: the last one of each name, and that
    /// of the name without a letter, the floor, for all names that are not there.
    [[nodiscard]] static std::string ballots_creation();
    /// All that makes the tables, for people.
    [[nodiscard]] std::string words() const;

private:
    std::string prefix_;
};

}  // namespace holdfast::stores::mysql
