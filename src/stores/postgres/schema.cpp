#include "stores/postgres/schema.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace holdfast::stores::postgres {

namespace {

// In the texts below: % is the prefix, @ the server's time, # its time in stamps, ! the version,
// & how many rows a sweep takes.
constexpr char const* ballots_table =
    "CREATE TABLE IF NOT EXISTS %ballot (name bytea, condition boolean, ballot bigint NOT NULL, "
    "granted bigint NOT NULL, PRIMARY KEY (name, condition)) WITH (fillfactor = 50)";

constexpr std::array creation_texts{
    // Two that make one table at the same time get in each other's way in the catalogue.
    "SELECT pg_advisory_xact_lock(hashtext('%'))",
    "SELECT set_config('holdfast.torn', (to_regclass('%head') IS NULL OR to_regclass('%line') IS "
    "NULL)::text, true)",
    "CREATE TABLE IF NOT EXISTS %meta (version integer NOT NULL, swept bigint NOT NULL)",
    "CREATE SEQUENCE IF NOT EXISTS %stamp",
    "CREATE TABLE IF NOT EXISTS %session (id bigint PRIMARY KEY, generation bigint NOT NULL, "
    "lease bigint NOT NULL, expires bigint NOT NULL, listener text NOT NULL, body bytea NOT NULL) "
    "WITH (fillfactor = 50)",
    "CREATE TABLE IF NOT EXISTS %head (name bytea, condition boolean, stamp bigint NOT NULL, "
    "body bytea, sessions bigint[], bound bigint, erased bigint, watchers jsonb, "
    "PRIMARY KEY (name, condition)) WITH (fillfactor = 50)",
    "CREATE TABLE IF NOT EXISTS %line (name bytea, condition boolean, place bigint, "
    "claim uuid NOT NULL, session bigint NOT NULL, body bytea NOT NULL, "
    "PRIMARY KEY (name, condition, place), UNIQUE (claim, name, condition, session))",
    ballots_table,
    // The columns are named so that a table of somebody else fails, and keeps what it has. So does a sequence: what is
    // done to one is not undone with the rest.
    "DELETE FROM %session WHERE generation IS NOT NULL AND lease IS NOT NULL AND expires IS NOT "
    "NULL "
    "AND body IS NOT NULL AND current_setting('holdfast.torn') = 'true' AND NOT EXISTS (SELECT 1 "
    "FROM %meta WHERE version <> !)",
    "SELECT setval('%stamp', greatest(last_value, #)) FROM %stamp",
    "INSERT INTO %meta (version, swept) SELECT !, 0 WHERE NOT EXISTS (SELECT 1 FROM %meta)",
};

// Tables that were made before there were ballots do not have theirs.
constexpr std::array ballots_creation_texts{creation_texts.front(), ballots_table};

// Two transactions: whoever does not find the ballot of a name any more finds the floor that has it. A row that was
// written meanwhile is looked at again under its lock.
constexpr std::array sweep_ballots_texts{
    "INSERT INTO %ballot AS t (name, condition, ballot, granted) SELECT ''::bytea, false, "
    "max(ballot), @ "
    "FROM %ballot WHERE name <> '' AND granted < @ - 10000000 HAVING max(ballot) IS NOT NULL "
    "ON CONFLICT (name, condition) DO UPDATE SET ballot = excluded.ballot, granted = "
    "excluded.granted WHERE t.ballot < excluded.ballot",
    "DELETE FROM %ballot WHERE name <> '' AND granted < @ - 10000000 AND ballot <= "
    "(SELECT f.ballot FROM %ballot f WHERE f.name = '' AND NOT f.condition)",
};

// A minute of stamps: so many are never drawn between the look at the sequence and its move.
constexpr std::string_view behind = "last_value < # - 1875000";

constexpr std::array catch_up_texts{
    "SELECT 1 FROM %meta FOR UPDATE",
    "SELECT setval('%stamp', #) FROM %stamp WHERE last_value < # - 1875000",
};

// A sweeper waits for nobody: it leaves out rows that somebody else has locked. What it found by its snapshot is
// compared again under the lock, in quals of the locked row alone: PostgreSQL does not look a second time for what an
// anti-join did not find. A head whose stamp is the same is bound to the same session, and death is for ever. An
// erased head stays for ten minutes: see the class.
constexpr std::array sweep_texts{
    "DELETE FROM %session WHERE id IN (SELECT id FROM %session WHERE expires <= @ ORDER BY id "
    "LIMIT & FOR UPDATE SKIP LOCKED)",
    "DELETE FROM %line WHERE (name, condition, place) IN (SELECT name, condition, place FROM %line "
    "l "
    "WHERE NOT EXISTS (SELECT 1 FROM %session s WHERE s.id = l.session) "
    "LIMIT & FOR UPDATE SKIP LOCKED)",
    "WITH dead AS MATERIALIZED (SELECT name, condition, stamp FROM %head h WHERE bound IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM %session s WHERE s.id = h.bound) LIMIT &), "
    "same AS MATERIALIZED (SELECT d.* FROM dead d JOIN %head h ON h.name = d.name AND "
    "h.condition = d.condition AND h.stamp = d.stamp FOR UPDATE OF h SKIP LOCKED) "
    "UPDATE %head t SET stamp = greatest(t.stamp + 1, nextval('%stamp'), #), body = NULL, "
    "sessions = NULL, bound = NULL, erased = @ FROM same d WHERE t.name = d.name AND "
    "t.condition = d.condition AND t.stamp = d.stamp",
    "DELETE FROM %head WHERE (name, condition) IN (SELECT name, condition FROM %head WHERE "
    "body IS NULL AND erased < @ - 600000000 AND NOT EXISTS (SELECT 1 FROM "
    "jsonb_each_text(watchers) w WHERE w.value::bigint > @) LIMIT & FOR UPDATE SKIP LOCKED)",
};

std::string filled(std::string_view text, std::string const& prefix,
                   std::int64_t swept = schema::swept_at_once) {
    std::string out;
    for (char const each : text) {
        switch (each) {
        case '%': out += prefix; break;
        case '@': out += server_time; break;
        case '#': out += server_stamp; break;
        case '&': out += std::to_string(swept); break;
        case '!': out += std::to_string(schema::version); break;
        default: out += each;
        }
    }
    return out;
}

template <class Texts>
std::vector<statement_text> filled_all(Texts const& texts, std::string const& prefix,
                                       std::int64_t swept = schema::swept_at_once) {
    std::vector<statement_text> out;
    for (auto const* const each : texts)
        out.push_back({"", filled(each, prefix, swept)});
    return out;
}

std::vector<statement> in_one_transaction(std::vector<statement_text> const& texts) {
    std::vector<statement> out;
    for (auto const& each : texts) {
        out.emplace_back(each);
        if (&each != &texts.back()) out.back().joined();
    }
    return out;
}

}  // namespace

schema::schema(std::string prefix)
    : prefix_{std::move(prefix)},
      greeting_{"", "SELECT pg_is_in_recovery(), pg_backend_pid()"},
      usual_settings_{"",
                      "SELECT set_config('default_transaction_isolation', 'read committed', "
                      "false), set_config('lock_timeout', $1::text, false)"},
      look_{"",
            filled("SELECT version, (SELECT " + std::string{behind} + " FROM %stamp) FROM %meta",
                   prefix_)},
      look_for_others_{"",
                       filled("SELECT s.generation, h.sessions, l.claim FROM %session s, %head h, "
                              "%line l LIMIT 0",
                              prefix_)},
      sweep_turn_{
          "", filled("UPDATE %meta SET swept = @ WHERE swept < @ - 60000000 RETURNING 1", prefix_)},
      sweep_soon_{"", filled("UPDATE %meta SET swept = @ - 59000000", prefix_)},
      look_for_ballots_{
          "", filled("SELECT (to_regclass('%ballot') IS NOT NULL)::int::bigint", prefix_)},
      creation_{filled_all(creation_texts, prefix_)},
      ballots_creation_{filled_all(ballots_creation_texts, prefix_)},
      catch_up_{filled_all(catch_up_texts, prefix_)},
      sweep_{filled_all(sweep_texts, prefix_)},
      sweep_in_passing_{filled_all(sweep_texts, prefix_, swept_in_passing)},
      sweep_ballots_{filled_all(sweep_ballots_texts, prefix_)} {}

std::vector<statement> schema::creation() const { return in_one_transaction(creation_); }

std::vector<statement> schema::catch_up() const { return in_one_transaction(catch_up_); }

std::vector<statement> schema::ballots_creation() const {
    return in_one_transaction(ballots_creation_);
}

std::vector<statement> schema::sweep() const { return {sweep_.begin(), sweep_.end()}; }

std::vector<statement> schema::sweep_in_passing() const {
    return {sweep_in_passing_.begin(), sweep_in_passing_.end()};
}

std::vector<statement> schema::sweep_ballots() const {
    return {sweep_ballots_.begin(), sweep_ballots_.end()};
}

std::string ballot_to_exceed(schema const& tables, std::string const& name,
                             std::string const& condition) {
    return "(SELECT coalesce(max(ballot), 0) FROM " + tables.table("ballot") +
           " WHERE (name, condition) IN ((" + name + ", " + condition + "), (''::bytea, false)))";
}

std::string schema::words() const {
    std::string out{"-- The tables of holdfast, version " + std::to_string(version) +
                    ".\nBEGIN;\n"};
    for (auto const& each : creation_)
        out += each.words + ";\n";
    return out + filled(
                     "COMMIT;\n-- For each user of the locks, in place of app:\n"
                     "-- GRANT SELECT, UPDATE ON %meta TO app;\n"
                     "-- GRANT SELECT, INSERT, UPDATE, DELETE ON %session, %head, %line, %ballot "
                     "TO app;\n"
                     "-- GRANT USAGE, SELECT, UPDATE ON SEQUENCE %stamp TO app;\n",
                     prefix_);
}

}  // namespace holdfast::stores::postgres
