#include "stores/postgres/statements.hpp"

#include <string_view>
#include <utility>

#include "stores/compare/view_parts.hpp"
#include "stores/postgres/letters.hpp"

namespace holdfast::stores::postgres {

namespace {

std::string element_of(compare::session_id id) {
    return number_element(static_cast<std::uint64_t>(id));
}

std::string const time_and_clock = std::string{server_time} + ", " + server_clock;

// The rows of one look, told apart by a column: 0 the time, 1 the head, 2 the line, 3 sessions.
std::string look_words(schema const& tables, bool claims, bool ballot) {
    auto const of_name =
        " FROM " + tables.table("line") + " WHERE name = $1::bytea AND condition = $2::boolean";
    std::string const items = claims ? "(SELECT * FROM l UNION SELECT * FROM c)" : "l";
    return "WITH h AS MATERIALIZED (SELECT stamp, body, sessions FROM " + tables.table("head") +
           " WHERE name = $1::bytea AND condition = $2::boolean AND body IS NOT NULL), "
           "l AS MATERIALIZED (SELECT place, session, body, claim" +
           of_name + " ORDER BY place LIMIT $3::bigint), " +
           (claims ? "c AS MATERIALIZED (SELECT place, session, body, claim" + of_name +
                         " AND claim = ANY($6::uuid[])), "
                   : "") +
           "i AS (SELECT unnest(sessions) AS id FROM h UNION SELECT session FROM " + items +
           " x "
           "UNION SELECT unnest($4::bigint[])) SELECT " +
           time_and_clock +
           ", 0::bigint, 0::bigint, 0::bigint, NULL::bytea, NULL::uuid "
           "UNION ALL SELECT 0, 0, 1, stamp, 0, body, NULL FROM h "
           "UNION ALL SELECT 0, 0, 2, place, session, body, claim FROM " +
           items +
           " y UNION ALL SELECT 0, 0, 3, i.id, s.expires, "
           "CASE WHEN $5::boolean THEN s.body END, NULL FROM i LEFT JOIN " +
           tables.table("session") + " s ON s.id = i.id" +
           (ballot ? " UNION ALL SELECT 0, 0, 4, " +
                         ballot_to_exceed(tables, "$1::bytea", "$2::boolean") + ", 0, NULL, NULL"
                   : "");
}

// The same for several names, whose number among them is the last column.
std::string look_names_words(schema const& tables) {
    return "WITH q AS MATERIALIZED (SELECT * FROM unnest($1::bytea[], $2::boolean[], $3::bigint[]) "
           "WITH ORDINALITY q(name, condition, most, number)), "
           "h AS MATERIALIZED (SELECT q.number, t.stamp, t.body, t.sessions FROM q JOIN " +
           tables.table("head") +
           " t ON t.name = q.name AND t.condition = q.condition WHERE t.body IS NOT NULL), "
           "l AS MATERIALIZED (SELECT q.number, x.* FROM q CROSS JOIN LATERAL (SELECT place, "
           "session, body, claim FROM " +
           tables.table("line") +
           " WHERE name = q.name AND condition = q.condition ORDER BY place LIMIT q.most) x), "
           "i AS (SELECT number, unnest(sessions) AS id FROM h UNION SELECT number, session FROM "
           "l) SELECT " +
           time_and_clock +
           ", 0::bigint, 0::bigint, 0::bigint, NULL::bytea, NULL::uuid, 0::bigint "
           "UNION ALL SELECT 0, 0, 1, stamp, 0, body, NULL, number FROM h "
           "UNION ALL SELECT 0, 0, 2, place, session, body, claim, number FROM l "
           "UNION ALL SELECT 0, 0, 3, i.id, s.expires, CASE WHEN $4::boolean THEN s.body END, "
           "NULL, i.number FROM i LEFT JOIN " +
           tables.table("session") + " s ON s.id = i.id";
}

std::string list_words(schema const& tables, bool waited_for) {
    std::string const range =
        " WHERE name >= $1::bytea AND ($2::bytea IS NULL OR name < $2::bytea) AND name > $3::bytea";
    std::string const waited = "(SELECT DISTINCT name FROM " + tables.table("line") + range +
                               " ORDER BY name LIMIT $4::bigint)";
    std::string const held = "(SELECT DISTINCT name FROM " + tables.table("head") + range +
                             " AND body IS NOT NULL ORDER BY name LIMIT $4::bigint)";
    // The time comes first, since an answer without names has one too.
    return "SELECT " + time_and_clock +
           ", NULL::bytea AS name UNION ALL (SELECT 0, 0, name FROM (" +
           (waited_for ? waited : waited + " UNION " + held) +
           ") n ORDER BY name LIMIT $4::bigint)";
}

std::string const watch_words =
    "jsonb_build_object($3::text, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + "
    "$4::bigint)";

}  // namespace

statements::statements(std::string const& prefix) : tables_{prefix} {
    auto const session = tables_.table("session");
    auto const head = tables_.table("head");
    auto const line = tables_.table("line");
    std::string const time{server_time};
    auto const drawn = tables_.sequence() + ", " + server_stamp;
    open_ = {"hf_open",
             "INSERT INTO " + session +
                 " AS s (id, generation, lease, expires, listener, body) SELECT "
                 "$1::bigint, greatest(" +
                 drawn +
                 "), $2::bigint, t.moment + $2::bigint * 1000, $3::text, $4::bytea FROM "
                 "(SELECT " +
                 time + " AS moment) t ON CONFLICT (id) DO UPDATE SET lease = s.lease RETURNING " +
                 time_and_clock + ", generation, lease, expires - lease * 1000"};
    // Another one may have been carried out while this one was stuck: it does not set the end back.
    keep_ = {"hf_keep", "WITH t AS MATERIALIZED (SELECT " + time + " AS moment), k AS (UPDATE " +
                            session +
                            " AS s SET expires = greatest(s.expires, t.moment + s.lease * 1000) "
                            "FROM t WHERE s.id = ANY($1::bigint[]) "
                            "AND s.expires > t.moment RETURNING s.id) SELECT t.moment, " +
                            server_clock + ", k.id FROM t LEFT JOIN k ON true"};
    // The row's strongest lock, so that steps which hold it by the guard are waited for.
    raise_ = {"hf_raise", "WITH r AS MATERIALIZED (SELECT id FROM " + session +
                              " WHERE id = $1::bigint AND expires > " + time +
                              " FOR UPDATE), u AS (UPDATE " + session +
                              " AS s SET generation = greatest(s.generation + 1, " + drawn +
                              ") FROM r WHERE s.id = r.id RETURNING s.generation) SELECT " +
                              time_and_clock + ", (SELECT generation FROM u)"};
    close_ = {"hf_close", "DELETE FROM " + session + " WHERE id = $1::bigint"};
    reap_ = {"hf_reap",
             "DELETE FROM " + session + " WHERE id = ANY($1::bigint[]) AND expires <= " + time};
    look_at_ = {"hf_look_at", "SELECT " + time_and_clock + ", id, expires - " + time + " FROM " +
                                  session + " WHERE id = ANY($1::bigint[])"};
    look_ = {"hf_look", look_words(tables_, false, false)};
    look_claims_ = {"hf_look_claims", look_words(tables_, true, false)};
    look_ballot_ = {"hf_look_ballot", look_words(tables_, false, true)};
    look_ballot_claims_ = {"hf_look_ballot_claims", look_words(tables_, true, true)};
    // A name that nobody has used yet gets a row that looks as one erased.
    lock_name_ = {"hf_lock_name",
                  "INSERT INTO " + head +
                      " AS h (name, condition, stamp, erased) SELECT $1::bytea, $2::boolean, 0, " +
                      time + " ON CONFLICT (name, condition) DO UPDATE SET stamp = h.stamp"};
    look_names_ = {"hf_look_names", look_names_words(tables_)};
    list_ = {"hf_list", list_words(tables_, false)};
    list_waited_ = {"hf_list_waited", list_words(tables_, true)};
    look_behind_ = {"hf_look_behind", "SELECT place FROM " + line +
                                          " WHERE name = $1::bytea AND condition = $2::boolean "
                                          "ORDER BY place DESC LIMIT $3::bigint"};
    watch_ = {"hf_watch",
              "INSERT INTO " + head +
                  " AS h (name, condition, stamp, erased, watchers) SELECT $1::bytea, "
                  "$2::boolean, 0, " +
                  time + ", " + watch_words +
                  " ON CONFLICT (name, condition) DO UPDATE SET watchers = coalesce((SELECT "
                  "jsonb_object_agg(w.key, w.value) FROM jsonb_each(h.watchers) w WHERE "
                  "w.value::bigint > " +
                  time + "), '{}') || excluded.watchers RETURNING " + time_and_clock};
    unwatch_ = {"hf_unwatch", "UPDATE " + head +
                                  " SET watchers = nullif(watchers - $3::text, '{}') WHERE name = "
                                  "$1::bytea AND condition = $2::boolean AND watchers ? $3::text"};
    notify_ = {"hf_notify", "SELECT pg_notify($1::text, $2::text)"};
}

statement statements::open(compare::session_id id, std::chrono::milliseconds lease,
                           std::string const& channel, std::string body) const {
    return statement{open_}.number(id).number(lease.count()).words(channel).bytes(std::move(body));
}

statement statements::keep(std::vector<compare::session_id> const& ids) const {
    return statement{keep_}.array(ids, element_of);
}

statement statements::raise(compare::session_id id) const { return statement{raise_}.number(id); }

statement statements::close(compare::session_id id) const { return statement{close_}.number(id); }

statement statements::reap(std::vector<compare::session_id> const& ids) const {
    return statement{reap_}.array(ids, element_of);
}

statement statements::look_at(std::vector<compare::session_id> const& ids) const {
    return statement{look_at_}.array(ids, element_of);
}

statement statements::look(compare::name_query const& what) const {
    auto const& usual = what.claims.empty() ? look_ : look_claims_;
    statement out{!what.ballot ? usual : what.claims.empty() ? look_ballot_ : look_ballot_claims_};
    out.bytes(what.key.name).flag(what.key.condition);
    what.line == compare::name_query::whole_line ? out.null()
                                                 : out.number(std::int64_t{what.line} + 1);
    out.array(what.sessions, element_of).flag(what.bodies);
    if (!what.claims.empty()) out.array(what.claims, claim_element);
    return out;
}

statement statements::look(std::vector<compare::name_query> const& what) const {
    return statement{look_names_}
        .array(what, [](auto const& each) { return bytes_element(each.key.name); })
        .array(what, [](auto const& each) { return std::string{each.key.condition ? "t" : "f"}; })
        .array(what,
               [](auto const& each) {
                   return each.line == compare::name_query::whole_line
                              ? std::string{"NULL"}
                              : number_element(std::uint64_t{each.line} + 1);
               })
        .flag(what.front().bodies);
}

statement statements::list(compare::listing const& what) const {
    statement out{what.waited_for ? list_waited_ : list_};
    out.bytes(what.prefix);
    auto const end = compare::behind_prefix(what.prefix);
    end ? out.bytes(*end) : out.null();
    return out.bytes(what.after).number(std::int64_t{what.most});
}

statement statements::watch(compare::name_key const& key, std::string const& channel) const {
    return statement{watch_}
        .bytes(key.name)
        .flag(key.condition)
        .words(channel)
        .number(std::chrono::microseconds{watch_kept}.count());
}

statement statements::unwatch(compare::name_key const& key, std::string const& channel) const {
    return statement{unwatch_}.bytes(key.name).flag(key.condition).words(channel);
}

statement statements::notify(std::string const& channel, std::string payload) const {
    return statement{notify_}.words(channel).words(std::move(payload));
}

statement statements::lock_name(compare::name_key const& key) const {
    return statement{lock_name_}.bytes(key.name).flag(key.condition);
}

statement statements::look_behind(compare::name_key const& key) const {
    return statement{look_behind_}.bytes(key.name).flag(key.condition).number(most_behind);
}

statement_text const& statements::shaped(std::uint32_t shape) const {
    auto& text = steps_[shape];
    if (text.words.empty())
        text = {"hf_step_" + std::to_string(shape), step_shape::text(shape, tables_)};
    return text;
}

}  // namespace holdfast::stores::postgres
