// The packets of a driver's calls, and what their answers mean.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/compare/store_times.hpp"
#include "stores/mysql/answer.hpp"
#include "stores/sql/driver.hpp"

namespace holdfast::stores::mysql {

/// Values as they stand in a statement.
[[nodiscard]] std::string literal(std::string_view bytes);
[[nodiscard]] std::string literal(seam::claim_id id);
template <class Number>
[[nodiscard]] std::string number(Number value) {
    return std::to_string(static_cast<std::int64_t>(value));
}
/// "a,b,c" of what `element` makes of each; "NULL", which is like nothing, of none.
template <class Range, class Element>
[[nodiscard]] std::string list_of(Range const& values, Element element) {
    std::string out;
    for (auto const& each : values)
        out += (out.empty() ? "" : ",") + element(each);
    return out.empty() ? "NULL" : out;
}
[[nodiscard]] std::string ids_of(std::vector<compare::session_id> const& ids);
/// In the order in which letters are delivered: stamp, and number in the table.
using letter_key = std::pair<compare::stamp, std::uint64_t>;
/// "name=… AND kind=…"
[[nodiscard]] std::string of_name(compare::name_key const& key);

/// All of them have marks in them; see schema.hpp. `->` tells the first row of the first result.
namespace packets {

/// -> server's time, generation, lease, when it began; no row: it is dead already
[[nodiscard]] std::string open(compare::session_id id, std::chrono::milliseconds lease,
                               std::string_view body);
/// -> letters; then server's time; then a row with its id for each that lives
[[nodiscard]] std::string keep(std::vector<compare::session_id> const& ids,
                               std::vector<compare::session_id> const& to);
/// -> server's time, the new generation; null when the session is dead
[[nodiscard]] std::string raise(compare::session_id id);
[[nodiscard]] std::string close(compare::session_id id);
/// Whoever finds a session expired ends it for good before saying so: its sign of life may be under way.
[[nodiscard]] std::string reap(std::vector<compare::session_id> const& ids);
/// Ends those whose time is over; -> id and microseconds left, for each that is there
[[nodiscard]] std::string look_at(std::vector<compare::session_id> const& ids);

/// -> rows for `read_view`
[[nodiscard]] std::string look(compare::name_query const& what);
/// -> server's time; then names
[[nodiscard]] std::string list(compare::listing const& what);
/// -> server's time, the stamp of the last change that those who watch are told of
[[nodiscard]] std::string change_of(compare::name_key const& key);

/// The first branch; -> server's time, whether the guard held, the stamp when it was carried out, whether somebody stands
/// in the line afterwards whom its client has not seen
[[nodiscard]] std::string first_branch(compare::step const& what);
/// The second one, `along` in one packet with the first, unless that was carried out. -> where it appends: server's time,
/// whether the guard held; then what `look` gives, from after its end
[[nodiscard]] std::string second_branch(compare::step const& what, bool along);

/// -> letters; then how many stand in line up to the one of ours who stands
/// nearest to its beginning, null when nobody waits; then heads that are watched
[[nodiscard]] std::string mail(std::vector<compare::session_id> const& to,
                               std::vector<compare::name_key> const& watched);
/// -> how many of them were still there
[[nodiscard]] std::string throw_away(std::vector<letter_key> const& letters);
/// Writes something, into the rows of one's own sessions: when it is acknowledged, all that was seen before is on the disk.
/// -> how many of them live
[[nodiscard]] std::string prove(std::vector<compare::session_id> const& own);

/// Fails with `no_such_table` when there never was a ballot.
[[nodiscard]] std::string look_for_ballots();
/// Ballots of names that are old enough count for all names, and are then removed.
[[nodiscard]] std::string sweep_ballots();
/// What a ballot for the name has to exceed, as an expression.
[[nodiscard]] std::string ballot_to_exceed(compare::name_key const& key);

/// -> a row for the one client that is to sweep this minute, with the server's time
[[nodiscard]] std::string sweep_turn();
/// The next one may sweep after a second.
[[nodiscard]] inline std::string sweep_soon() { return "UPDATE %meta SET swept=^-59000000"; }
/// -> what the dead have left where nobody looks: sessions, places, heads with their stamps, letters; of each at most
/// `swept_at_once`
inline constexpr std::size_t swept_at_once = 500;
[[nodiscard]] std::string find_leftovers();
/// Removes of it what is still the same.
[[nodiscard]] std::string sweep(answer const& found);

}  // namespace packets

[[nodiscard]] sql::viewed read_view(answer const& from, std::size_t result,
                                    compare::name_query const& what);
/// When that look was carried out.
[[nodiscard]] compare::reading time_of_view(answer const& from, std::size_t result);

[[nodiscard]] inline seam::store_time microseconds_in(cell const& from) {
    return compare::store_time_of(static_cast<std::int64_t>(number_in(from)));
}
/// In the first column of a result's only row.
[[nodiscard]] inline compare::reading time_in(answer const& found, std::size_t result = 0) {
    return {microseconds_in(found.first(result)[0]), found.clock};
}

}  // namespace holdfast::stores::mysql
