#include "stores/mysql/statements.hpp"

#include <algorithm>

#include "stores/compare/view_parts.hpp"

namespace holdfast::stores::mysql {

namespace {

constexpr std::size_t sessions_told = 8;  ///< of a head, by one look
constexpr std::size_t id_bytes = 8;

std::string digits_of(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (char const each : bytes) {
        auto const value = static_cast<unsigned char>(each);
        out += digits[value >> 4];
        out += digits[value & 15];
    }
    return out;
}

std::uint64_t bytes_as_number(std::string_view bytes) {
    std::uint64_t out = 0;
    for (char const each : bytes)
        out = out << 8 | static_cast<unsigned char>(each);
    return out;
}

compare::line_item item_in(row const& from) {
    auto const& claim = text_in(from[4]);
    if (claim.size() != 2 * id_bytes) throw odd_answer{};
    return {{seam::client_id{bytes_as_number(std::string_view{claim}.substr(0, id_bytes))},
             bytes_as_number(std::string_view{claim}.substr(id_bytes))},
            compare::session_id{number_in(from[2])},
            number_in(from[1]),
            text_in(from[3])};
}

}  // namespace

std::string literal(std::string_view bytes) { return "X'" + digits_of(bytes) + "'"; }

std::string literal(seam::claim_id id) {
    return "X'" + base::hex(static_cast<std::uint64_t>(id.client)) + base::hex(id.number) + "'";
}

std::string ids_of(std::vector<compare::session_id> const& ids) {
    return list_of(ids, [](auto id) { return number(id); });
}

std::string of_name(compare::name_key const& key) {
    return "name=" + literal(key.name) + " AND kind=" + (key.condition ? "1" : "0");
}

namespace packets {

namespace {

std::string letters(std::vector<compare::session_id> const& to) {
    return "SELECT id,session,stamp,body FROM %mail WHERE session IN (" + ids_of(to) +
           ") ORDER BY stamp,id";
}

}  // namespace

std::string open(compare::session_id id, std::chrono::milliseconds lease, std::string_view body) {
    auto const span = number(lease.count());
    return "$INSERT INTO %session (id,generation,lease,expires,body) SELECT " + number(id) +
           ",GREATEST(#)," + span + ",^+" + span + "*1000," + literal(body) +
           " FROM DUAL ON DUPLICATE KEY UPDATE lease=%session.lease;"
           "SELECT ^,generation,lease,expires-lease*1000 FROM %session WHERE id=" +
           number(id);
}

// Never shorter than it is: of two at once, the later one may come first. And always another end, since only a row that is
// changed is written, and what was read before is on the disk when the write is.
std::string keep(std::vector<compare::session_id> const& ids,
                 std::vector<compare::session_id> const& to) {
    auto const those = " WHERE id IN (" + ids_of(ids) + ") AND expires>";
    return "SET @t=^;" + letters(to) + ";DELETE FROM %session WHERE id IN (" + ids_of(ids) +
           ") AND expires<=@t" + ";UPDATE %session SET expires=GREATEST(expires+1,@t+lease*1000)" +
           those + "@t;SELECT @t;SELECT id FROM %session" + those + "=@t+lease*1000";
}

// Its lock waits for steps that have looked at the generation and are not over.
std::string raise(compare::session_id id) {
    return "SET @r=NULL;" + reap({id}) +
           ";$UPDATE %session SET generation=(@r:=GREATEST(generation+1,#)) WHERE id=" +
           number(id) + ";SELECT ^,@r";
}

std::string close(compare::session_id id) {
    return "DELETE FROM %session WHERE id=" + number(id) +
           ";DELETE FROM %mail WHERE session=" + number(id);
}

std::string reap(std::vector<compare::session_id> const& ids) {
    return "DELETE FROM %session WHERE id IN (" + ids_of(ids) + ") AND expires<=^";
}

std::string look_at(std::vector<compare::session_id> const& ids) {
    return reap(ids) + ";SELECT id,expires-^ FROM %session WHERE id IN (" + ids_of(ids) + ")";
}

// One statement, since only that sees one moment: 0 the time, 1 the head, 2 the line, 3 sessions.
std::string look(compare::name_query const& what) {
    auto const name = of_name(what.key);
    auto const line = " FROM %line WHERE " + name + " ORDER BY place LIMIT " +
                      std::to_string(std::uint64_t{what.line} + 1);
    auto const claims = what.claims.empty()
                            ? std::string{}
                            : " FROM %line WHERE claim IN (" +
                                  list_of(what.claims, [](auto id) { return literal(id); }) +
                                  ") AND " + name;
    std::string out{
        "SELECT 0,^,0,NULL,NULL UNION ALL SELECT 1,stamp,0,body,sessions FROM %head WHERE " + name +
        " AND body IS NOT NULL UNION ALL (SELECT 2,place,session,body,claim" + line + ")"};
    if (!claims.empty()) out += " UNION ALL SELECT 2,place,session,body,claim" + claims;
    out += std::string{" UNION ALL SELECT 3,i.id,s.expires,"} + (what.bodies ? "s.body" : "NULL") +
           ",NULL FROM (SELECT session AS id FROM (SELECT session" + line + ") l";
    if (!claims.empty()) out += " UNION SELECT session" + claims;
    for (auto const id : what.sessions)
        out += " UNION SELECT " + number(id);
    out +=
        " UNION SELECT CAST(CONV(HEX(SUBSTR(h.sessions,d.n*8+1,8)),16,10) AS SIGNED) FROM (SELECT "
        "0 n";
    for (std::size_t i = 1; i < sessions_told; ++i)
        out += " UNION ALL SELECT " + std::to_string(i);
    out += ") d JOIN %head h ON d.n*8<LENGTH(h.sessions) WHERE h.body IS NOT NULL AND h." + name +
           ") i LEFT JOIN %session s ON s.id=i.id";
    if (what.ballot) out += " UNION ALL SELECT 4," + ballot_to_exceed(what.key) + ",0,NULL,NULL";
    return out;
}

std::string list(compare::listing const& what) {
    auto const limit = " ORDER BY name LIMIT " + std::to_string(what.most);
    auto const end = compare::behind_prefix(what.prefix);
    auto const range = " WHERE name>=" + literal(what.prefix) +
                       (end ? " AND name<" + literal(*end) : "") + " AND name>" +
                       literal(what.after);
    auto const waited = "(SELECT DISTINCT name FROM %line" + range + limit + ")";
    auto const held =
        " UNION (SELECT DISTINCT name FROM %head" + range + " AND body IS NOT NULL" + limit + ")";
    return "SELECT ^;SELECT name FROM (" + waited + (what.waited_for ? "" : held) + ") n" + limit;
}

std::string change_of(compare::name_key const& key) {
    return "SELECT ^,(SELECT announced FROM %head WHERE " + of_name(key) + ")";
}

std::string mail(std::vector<compare::session_id> const& to,
                 std::vector<compare::name_key> const& watched) {
    std::string out{
        letters(to) +
        ";SELECT MIN(n) FROM (SELECT (SELECT COUNT(*) FROM %line o WHERE "
        "o.name=m.name AND o.kind=m.kind AND o.place<=m.place) n FROM (SELECT name,kind,MIN(place) "
        "place FROM %line WHERE session IN (" +
        ids_of(to) + ") GROUP BY name,kind) m) x"};
    std::string names;
    for (auto const& key : watched)
        names += (names.empty() ? "" : " OR ") + of_name(key);
    if (!names.empty()) out += ";SELECT name,kind,announced FROM %head WHERE " + names;
    return out;
}

// After a crash of the server numbers of letters are given a second time, and stamps are not.
std::string throw_away(std::vector<letter_key> const& letters) {
    std::string out;
    for (auto const& [written, id] : letters)
        out += (out.empty() ? "" : " OR ") + ("id=" + std::to_string(id)) +
               " AND stamp=" + number(written);
    return "DELETE FROM %mail WHERE " + out + ";SELECT ROW_COUNT()";
}

std::string prove(std::vector<compare::session_id> const& own) {
    return "UPDATE %session SET expires=expires+1 WHERE id IN (" + ids_of(own) +
           ") AND expires>^;SELECT ROW_COUNT()";
}

// --- ballots -----------------------------------------------------------------------------------

std::string look_for_ballots() { return "SELECT 1 FROM %ballot LIMIT 0"; }

std::string ballot_to_exceed(compare::name_key const& key) {
    return "COALESCE((SELECT MAX(ballot) FROM %ballot WHERE " + of_name(key) + " OR " +
           of_name({}) + "),0)";
}

// A transaction each: whoever does not find the ballot of a name any more finds the floor that has it.
std::string sweep_ballots() {
    auto const old = " FROM %ballot WHERE name<>X'' AND granted<^-10000000";
    return std::string{
               "INSERT INTO %ballot (name,kind,ballot,granted) SELECT X'',0,m,^ FROM (SELECT "
               "MAX(ballot) m"} +
           old +
           ") o WHERE m IS NOT NULL ON DUPLICATE KEY UPDATE "
           "ballot=GREATEST(%ballot.ballot,VALUES(ballot)),granted=VALUES(granted);"
           "SET @f=(SELECT ballot FROM %ballot WHERE " +
           of_name({}) + ");DELETE" + old + " AND ballot<=@f";
}

// --- keeping it small --------------------------------------------------------------------------

std::string sweep_turn() {
    return "SET @t=^;UPDATE %meta SET swept=@t WHERE swept<@t-60000000;SELECT @t FROM %meta WHERE "
           "swept=@t";
}

// Without locks; what is found is looked at once more when it is removed.
std::string find_leftovers() {
    auto const limit = " LIMIT " + std::to_string(swept_at_once) + ";";
    return "SELECT id FROM %session WHERE expires<=^" + limit +
           "SELECT l.place,l.session FROM %line l LEFT JOIN %session s ON s.id=l.session WHERE "
           "s.id IS NULL" +
           limit +
           "SELECT h.name,h.kind,h.stamp,h.body IS NULL FROM %head h LEFT JOIN %session s ON "
           "s.id=h.bound WHERE (h.body IS NULL AND h.erased<^-600000000) OR (h.bound IS NOT NULL "
           "AND s.id IS NULL)" +
           limit +
           "SELECT m.id,m.session FROM %mail m LEFT JOIN %session s ON s.id=m.session WHERE s.id "
           "IS NULL "
           "LIMIT " +
           std::to_string(swept_at_once);
}

// A head with the same stamp is bound to the same session, and death is for ever. An erased one stays for a while:
// those who watch the name see that it is another one.
std::string sweep(answer const& found) {
    // After a crash of the server a number may be another one's.
    auto const pairs = [&](char const* column, std::size_t result) {
        std::string all;
        for (auto const& each : found.rows(result))
            all += std::string{" OR "} + column + "=" + std::to_string(number_in(each[0])) +
                   " AND session=" + std::to_string(number_in(each[1]));
        return all;
    };
    std::string out{
        "|DELETE FROM %session WHERE id IN (" +
        list_of(found.rows(0), [](row const& each) { return std::to_string(number_in(each[0])); }) +
        ") AND expires<=^;DELETE FROM %line WHERE 0" + pairs("place", 1) +
        ";DELETE FROM %mail WHERE 0" + pairs("id", 3)};
    std::string erased, bound;
    for (auto const& each : found.rows(2))
        (each[3] == "1" ? erased : bound) += " OR " + of_name({text_in(each[0]), each[1] == "1"}) +
                                             " AND stamp=" + std::to_string(number_in(each[2]));
    if (!erased.empty()) out += ";DELETE FROM %head WHERE body IS NULL AND (0" + erased + ")";
    if (!bound.empty())
        out +=
            ";$UPDATE %head SET stamp=GREATEST(stamp+1,#),announced=stamp,body=NULL,sessions=NULL,"
            "bound=NULL,erased=^ WHERE bound IS NOT NULL AND (0" +
            bound + ")";
    return out;
}

}  // namespace packets

// --- what a look has found ---------------------------------------------------------------------

compare::reading time_of_view(answer const& from, std::size_t result) {
    // Its row is the first one.
    return {microseconds_in(from.first(result)[1]), from.clock};
}

sql::viewed read_view(answer const& from, std::size_t result, compare::name_query const& what) {
    sql::viewed out;
    out.found.key = what.key;
    std::string_view named;
    auto const when = time_of_view(from, result).now;
    for (auto const& each : from.rows(result)) {
        if (each[0] == "1") {
            out.found.written = compare::stamp{number_in(each[1])};
            out.found.body = text_in(each[3]);
            if (each[4]) named = *each[4];
        } else if (each[0] == "2") {
            out.found.line.push_back(item_in(each));
        } else if (each[0] == "3") {
            compare::session_id const id{number_in(each[1])};
            auto const expires = microseconds_in(each[2]);
            if (each[2] && expires <= when) out.expired.push_back(id);
            out.found.sessions.push_back({id, each[2].has_value(), expires, each[3].value_or("")});
        } else if (each[0] == "4") {
            out.found.ballot = seam::sequence{number_in(each[1])};
        }
    }
    for (; named.size() >= id_bytes; named.remove_prefix(id_bytes)) {
        compare::session_id const id{bytes_as_number(named.substr(0, id_bytes))};
        out.named.push_back(id);
        if (std::ranges::find(out.found.sessions, id, &compare::session_state::id) ==
            out.found.sessions.end())
            out.untold.push_back(id);
    }
    compare::arrange_line(out.found, what);
    return out;
}

}  // namespace holdfast::stores::mysql
