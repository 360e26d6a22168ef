// A step as one statement: guard, conditions, both branches. What a step lacks is left out of its text.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/postgres/letters.hpp"
#include "stores/postgres/statements.hpp"

namespace holdfast::stores::postgres {

namespace {

/// Writes the text, and numbers the parameters in the order in which `statements::step` gives them.
class step_writer {
public:
    step_writer(std::uint32_t shape, schema const& tables)
        : shape_{shape},
          session_{tables.table("session")},
          head_{tables.table("head")},
          line_{tables.table("line")},
          tables_{tables},
          sequence_{tables.sequence()},
          drawn_{sequence_ + ", " + server_stamp} {}

    std::string write() {
        auto const self = next("bigint");
        auto const generation = next("bigint");
        auto const name = next("bytea");
        auto const condition = next("boolean");
        values_ = name + ", " + condition;
        of_name_ = "name = " + name + " AND condition = " + condition;
        name_ = name;
        condition_ = condition;
        auto const expected = has(step_shape::has_head) ? next("bigint") : "";
        write_guard(self, generation);
        auto const conditions = write_conditions();
        has(step_shape::has_head) ? write_existing(expected, conditions) : write_new(conditions);
        write_line();
        write_result();
        return text_;
    }

private:
    [[nodiscard]] bool has(step_shape::part which) const { return (shape_ & which) != 0; }
    std::string next(char const* type) { return "$" + std::to_string(++parameters_) + "::" + type; }

    void write_guard(std::string const& self, std::string const& generation) {
        text_ = "WITH g AS MATERIALIZED (SELECT id FROM " + session_ + " WHERE id = " + self +
                " AND generation = " + generation + " AND expires > " + server_time;
        if (has(step_shape::bounded)) text_ += " AND " + next("bigint") + " >= " + server_time;
        text_ += " FOR KEY SHARE)";
    }

    // Whoever lets an item leave locks its row first: of two at once, the second one finds it gone.
    std::string write_conditions() {
        std::string out;
        if (has(step_shape::needs_present)) {
            auto const claims = next("uuid[]");
            auto const places = next("bigint[]");
            text_ += ", p AS MATERIALIZED (SELECT l.place FROM unnest(" + claims + ", " + places +
                     ") u(claim, place), " + line_ + " l WHERE l.claim = u.claim AND l." +
                     of_name_ +
                     " AND l.place = u.place AND EXISTS (SELECT 1 FROM g) ORDER BY l.place "
                     "FOR UPDATE OF l)";
            out += " AND (SELECT count(*) FROM p) = cardinality(" + claims + ")";
        }
        if (has(step_shape::needs_nobody))
            out += " AND NOT EXISTS (SELECT 1 FROM " + line_ + " WHERE " + of_name_ +
                   " AND place <> ALL(" + next("bigint[]") + "))";
        if (has(step_shape::votes)) ballot_ = next("bigint");
        if (has(step_shape::compares))
            out += " AND " + ballot_ + " > " + ballot_to_exceed(tables_, name_, condition_);
        return out;
    }

    // Clients that have died do not ask for their watches again: who announces a change leaves those out that are over.
    [[nodiscard]] std::string living_watchers() const {
        if (!has(step_shape::announces)) return "";
        return std::string{
                   ", watchers = CASE WHEN t.watchers IS NOT NULL THEN (SELECT "
                   "jsonb_object_agg(w.key, w.value) FROM jsonb_each(t.watchers) w WHERE "
                   "w.value::bigint > "} +
               server_time + ") END";
    }

    // An erased head's row may be there or not. It is locked in either case.
    void write_new(std::string const& conditions) {
        text_ += ", h AS (INSERT INTO " + head_ + " AS t (name, condition, stamp, ";
        if (has(step_shape::writes)) {
            auto const body = next("bytea");
            auto const sessions = next("bigint[]");
            auto const bound = next("bigint");
            text_ +=
                "body, sessions, bound) SELECT " + values_ + ", greatest(" + drawn_ + "), " + body +
                ", " + sessions + ", " + bound + " FROM g WHERE true" + conditions +
                " ON CONFLICT (name, condition) DO UPDATE SET stamp = greatest(t.stamp + 1, " +
                drawn_ +
                "), body = excluded.body, sessions = excluded.sessions, bound = excluded.bound, "
                "erased = NULL" +
                living_watchers() + " WHERE t.body IS NULL RETURNING t.stamp, t.watchers)";
        } else {
            text_ += std::string{"erased) SELECT "} + values_ + ", 0, " + server_time +
                     " FROM g WHERE true" + conditions +
                     " ON CONFLICT (name, condition) DO UPDATE SET erased = excluded.erased "
                     "WHERE t.body IS NULL RETURNING greatest(t.stamp + 1, " +
                     drawn_ + ") AS stamp, t.watchers)";
        }
    }

    void write_existing(std::string const& expected, std::string const& conditions) {
        auto const where = " WHERE t." + of_name_ + " AND t.stamp = " + expected +
                           " AND t.body IS NOT NULL" + conditions;
        auto const stamp = "greatest(t.stamp + 1, " + drawn_ + ")";
        if (has(step_shape::writes)) {
            auto const body = next("bytea");
            auto const sessions = next("bigint[]");
            auto const bound = next("bigint");
            text_ += ", h AS (UPDATE " + head_ + " AS t SET stamp = " + stamp + ", body = " + body +
                     ", sessions = " + sessions + ", bound = " + bound + living_watchers() +
                     " FROM g" + where + " RETURNING t.stamp, t.watchers)";
        } else if (has(step_shape::erases)) {
            text_ += ", h AS (UPDATE " + head_ + " AS t SET stamp = " + stamp +
                     ", body = NULL, sessions = NULL, bound = NULL, erased = " + server_time +
                     living_watchers() + " FROM g" + where + " RETURNING t.stamp, t.watchers)";
        } else {
            text_ += ", h AS MATERIALIZED (SELECT " + stamp + " AS stamp, t.watchers FROM " +
                     head_ + " t, g" + where + " FOR NO KEY UPDATE OF t)";
        }
    }

    void append(char const* as, std::string const& from) {
        auto const claims = next("uuid[]");
        auto const sessions = next("bigint[]");
        auto const bodies = next("bytea[]");
        text_ += std::string{", "} + as + " AS (INSERT INTO " + line_ +
                 " (name, condition, place, claim, session, body) SELECT " + values_ + ", " +
                 sequence_ + ", u.claim, u.session, u.body FROM unnest(" + claims + ", " +
                 sessions + ", " + bodies + ") u(claim, session, body), " + from +
                 " ON CONFLICT (claim, name, condition, session) DO NOTHING RETURNING place)";
    }

    // A claim may leave with a session that has died and join with another by the same step.
    void write_line() {
        if (has(step_shape::leaves)) {
            auto const claims = next("uuid[]");
            auto const places = next("bigint[]");
            text_ += ", d AS (DELETE FROM " + line_ + " l USING h, unnest(" + claims + ", " +
                     places + ") u(claim, place) WHERE l.claim = u.claim AND l." + of_name_ +
                     " AND l.place = u.place)";
        }
        if (has(step_shape::votes))
            text_ += ", v AS (INSERT INTO " + tables_.table("ballot") +
                     " AS b (name, condition, ballot, granted) SELECT " + values_ + ", " + ballot_ +
                     ", " + server_time +
                     " FROM h ON CONFLICT (name, condition) DO UPDATE SET ballot = "
                     "greatest(b.ballot, excluded.ballot), granted = excluded.granted)";
        if (has(step_shape::appends)) append("a", "h");
        if (has(step_shape::appends_otherwise)) append("o", "g WHERE NOT EXISTS (SELECT 1 FROM h)");
    }

    void write_result() {
        text_ += std::string{" SELECT "} + server_time + ", " + server_clock +
                 ", (SELECT count(*) FROM g), (SELECT stamp FROM h), ";
        text_ += has(step_shape::appends)
                     ? "(SELECT string_agg(place::text, ',' ORDER BY place) FROM a)"
                     : "NULL::text";
        if (has(step_shape::has_letters)) {
            auto const sessions = next("bigint[]");
            auto const bodies = next("text[]");
            // In order: the pieces of a letter follow each other.
            text_ +=
                ", (SELECT count(pg_notify(q.listener, q.payload)) FROM (SELECT s.listener, "
                "'L ' || s.id || ' ' || h.stamp || ' ' || u.number || ' ' || u.body AS payload "
                "FROM h, unnest(" +
                sessions + ", " + bodies + ") WITH ORDINALITY u(id, body, number), " + session_ +
                " s WHERE s.id = u.id ORDER BY u.number) q)";
        }
        if (has(step_shape::announces))
            text_ += ", (SELECT count(pg_notify(w.key, " + next("text") +
                     ")) FROM h, jsonb_each_text(h.watchers) w WHERE w.value::bigint > " +
                     server_time + ")";
    }

    std::uint32_t const shape_;
    std::string const session_, head_, line_;
    schema const& tables_;
    std::string const sequence_, drawn_;
    std::string name_, condition_, values_, of_name_, ballot_, text_;
    int parameters_{0};
};

void add_items(statement& to, std::vector<compare::line_item> const& items) {
    to.array(items, [](auto const& each) { return claim_element(each.id); })
        .array(items,
               [](auto const& each) {
                   return number_element(static_cast<std::uint64_t>(each.session));
               })
        .array(items, [](auto const& each) { return bytes_element(each.body); });
}

void add_letters(statement& to, std::vector<compare::letter> const& letters) {
    std::vector<std::pair<compare::session_id, std::string>> pieces;
    for (auto const& each : letters)
        for (auto& piece : letter_pieces(each.body))
            pieces.emplace_back(each.to, std::move(piece));
    to.array(pieces, [](auto const& each) {
        return number_element(static_cast<std::uint64_t>(each.first));
    });
    to.array(pieces, [](auto const& each) { return '"' + each.second + '"'; });
}

void add_head(statement& to, compare::head_write const& what) {
    to.bytes(what.body).array(
        what.sessions, [](auto id) { return number_element(static_cast<std::uint64_t>(id)); });
    what.bound ? to.number(*what.bound) : to.null();
}

}  // namespace

std::uint32_t step_shape::of(compare::step const& what) {
    std::uint32_t out = 0;
    auto const add = [&](bool present, part which) {
        if (present) out |= which;
    };
    add(what.expected != compare::stamp{}, has_head);
    add(what.head && !what.head->erase, writes);
    add(what.head && what.head->erase, erases);
    add(what.head && what.head->announced, announces);
    add(what.not_after.has_value(), bounded);
    add(!what.present.empty(), needs_present);
    add(what.nobody_behind.has_value(), needs_nobody);
    add(!what.leave.empty(), leaves);
    add(!what.append.empty(), appends);
    add(!what.letters.empty(), has_letters);
    add(!what.append_otherwise.empty(), appends_otherwise);
    add(what.ballot.has_value(), votes);
    add(what.ballot && what.ballot->compared, compares);
    return out;
}

std::string step_shape::text(std::uint32_t shape, schema const& tables) {
    return step_writer{shape, tables}.write();
}

statement statements::step(compare::step const& what) const {
    auto const claim_of = [](auto const& each) { return claim_element(each.id); };
    auto const place_of = [](auto const& each) { return number_element(each.place); };
    auto const shape = step_shape::of(what);
    statement out{shaped(shape)};
    out.number(what.self).number(what.of).bytes(what.key.name).flag(what.key.condition);
    if (what.expected != compare::stamp{}) out.number(what.expected);
    if (what.not_after) out.number(what.not_after->time_since_epoch().count());
    if (!what.present.empty()) out.array(what.present, claim_of).array(what.present, place_of);
    if (what.nobody_behind) out.array(what.seen_places, number_element);
    if (what.ballot) out.number(what.ballot->number);
    if ((shape & step_shape::writes) != 0) add_head(out, *what.head);
    if (!what.leave.empty()) out.array(what.leave, claim_of).array(what.leave, place_of);
    if (!what.append.empty()) add_items(out, what.append);
    if (!what.append_otherwise.empty()) add_items(out, what.append_otherwise);
    if (!what.letters.empty()) add_letters(out, what.letters);
    if ((shape & step_shape::announces) != 0) out.words(change_payload(what.key));
    return out;
}

}  // namespace holdfast::stores::postgres
