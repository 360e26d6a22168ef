#include "stores/file/schema.hpp"

#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "stores/file/numbers.hpp"

namespace holdfast::stores::file {

namespace {

constexpr std::int64_t application_id = 0x686f6c64;  // "hold", in bytes 68 to 71 of the file
constexpr std::int64_t version = 1;

// One b-tree less per table and one page less per transaction: WITHOUT ROWID wherever the key is
// not a plain number. `line` finds the holder that ends first (rank = expires) and the waiter that
// came first (rank = since) with one step each. `waited` is for those who look for deadlocks.
constexpr char const* tables = R"(
CREATE TABLE state(
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    time_namespace INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    serial INTEGER NOT NULL,
    watches INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    swept INTEGER NOT NULL);
CREATE TABLE clients(
    id INTEGER PRIMARY KEY,
    slot INTEGER,
    side INTEGER NOT NULL,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    label TEXT NOT NULL);
CREATE TABLE names(
    condition INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    declared INTEGER NOT NULL,
    current INTEGER NOT NULL,
    used INTEGER NOT NULL,
    holders INTEGER NOT NULL,
    waiters INTEGER NOT NULL,
    fair_waiters INTEGER NOT NULL,
    cells INTEGER NOT NULL,
    shared INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    PRIMARY KEY (condition, name)) WITHOUT ROWID;
CREATE TABLE claims(
    client INTEGER NOT NULL,
    number INTEGER NOT NULL,
    condition INTEGER NOT NULL,
    name TEXT NOT NULL,
    held INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    mode INTEGER NOT NULL,
    permits INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    since INTEGER NOT NULL,
    began INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    asked_mode INTEGER NOT NULL,
    asked_permits INTEGER NOT NULL,
    asked_limit INTEGER NOT NULL,
    fair INTEGER NOT NULL,
    joins INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    owner TEXT NOT NULL,
    label TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (client, number)) WITHOUT ROWID;
CREATE INDEX line ON claims(condition, name, held, rank);
CREATE INDEX waited ON claims(name) WHERE held = 0 AND (actor <> 0 OR owner <> '');
CREATE TABLE cells(
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    version INTEGER NOT NULL,
    value BLOB NOT NULL,
    operation_client INTEGER NOT NULL,
    operation_number INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    PRIMARY KEY (kind, name, part)) WITHOUT ROWID;
CREATE INDEX cells_by_end ON cells(expires);
CREATE TABLE bars(
    client INTEGER NOT NULL,
    number INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (client, number)) WITHOUT ROWID;
CREATE TABLE watches(
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    client INTEGER NOT NULL,
    PRIMARY KEY (kind, name, part, client)) WITHOUT ROWID;
CREATE INDEX watches_by_client ON watches(client);
CREATE TABLE notices(
    client INTEGER NOT NULL,
    what INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    serial INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    began INTEGER NOT NULL,
    contended INTEGER NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (client, what, number, kind, name, part)) WITHOUT ROWID;
)";

// The last ballot of each name, and those of all names by their age. Files that were never asked with a ballot do not
// have them.
constexpr char const* ballot_tables = R"(
CREATE TABLE IF NOT EXISTS ballots(
    condition INTEGER NOT NULL,
    name TEXT NOT NULL,
    ballot INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (condition, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ballot_windows(
    id INTEGER PRIMARY KEY CHECK (id = 1),
    span INTEGER NOT NULL,
    recent INTEGER NOT NULL,
    older INTEGER NOT NULL,
    floor INTEGER NOT NULL);
)";

std::int64_t number_of(database& file, char const* sql) {
    auto row = file.query(sql);
    return row.next() ? row.integer(0) : 0;
}

// Not by a stream: the first one of a process costs more than all the rest of joining.
std::string boot_id() {
    base::descriptor const in{::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)};
    std::array<char, 64> line{};
    auto const size = in ? ::read(in.get(), line.data(), line.size()) : 0;
    std::string_view const text{line.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    return std::string{text.substr(0, text.find('\n'))};
}

}  // namespace

clock_identity clock_identity::here() {
    clock_identity out;
    out.boot = boot_id();
    if (out.boot.empty())
        refuse(errc::unsupported,
               "a file store needs /proc/sys/kernel/random/boot_id to tell holds from before "
               "a restart of the machine; mount /proc");
    // Kernels before 5.6 have no time namespaces: then there is one, the same for all.
    struct stat status {};
    if (::stat("/proc/self/ns/time", &status) == 0)
        out.time_namespace = static_cast<std::int64_t>(status.st_ino);
    return out;
}

bool is_blank(database& file) {
    auto const id = number_of(file, "PRAGMA application_id");
    auto const its_version = number_of(file, "PRAGMA user_version");
    if (id == 0 && its_version == 0 &&
        number_of(file, "SELECT EXISTS (SELECT 1 FROM sqlite_schema)") == 0)
        return true;
    if (id != application_id)
        refuse(errc::bad_url, "the store file '" + file.path() +
                                  "' is an SQLite database of another program; choose another "
                                  "path");
    if (its_version != version)
        refuse(errc::unsupported, "the store file '" + file.path() + "' was made by " +
                                      (its_version > version ? "a newer" : "an unfinished") +
                                      " version of holdfast (layout " +
                                      std::to_string(its_version) + ", this one knows " +
                                      std::to_string(version) +
                                      "); use one version in all processes, or another path");
    return false;
}

void create_tables(database& file, clock_identity const& clock) {
    file.execute_script(tables);
    file.query("INSERT INTO state VALUES (1, ?, ?, 0, 0, 0, 0, 0)")
        .with(clock.boot, clock.time_namespace)
        .run();
    file.execute_script(("PRAGMA application_id = " + std::to_string(application_id) +
                         "; PRAGMA user_version = " + std::to_string(version))
                            .c_str());
}

void make_ballot_tables(database& file) { file.execute_script(ballot_tables); }

void sweep_ballots(database& file, seam::store_time now) {
    if (number_of(file, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'ballots')") == 0)
        return;
    file.query("DELETE FROM ballots WHERE until <= ?").with(now.time_since_epoch().count()).run();
}

clock_identity clock_of(database& file) {
    auto row = file.query("SELECT boot, time_namespace FROM state");
    if (!row.next()) file.fail(SQLITE_CORRUPT);
    return {row.text(0), row.integer(1)};
}

void begin_anew(database& file, clock_identity const& clock, seam::store_time now) {
    constexpr std::int64_t limits_kept = std::chrono::microseconds{std::chrono::hours{24}}.count();
    auto const time = now.time_since_epoch().count();
    file.execute_script(
        "DELETE FROM clients; DELETE FROM bars; DELETE FROM watches; DELETE FROM notices;");
    file.query("DELETE FROM claims WHERE kept = 0 OR began > ?1 OR expires <= ?1").with(time).run();
    file.query(
            "UPDATE names SET waiters = 0, fair_waiters = 0,"
            " (holders, used, shared) = (SELECT count(*),"
            "  coalesce(sum(permits) FILTER (WHERE mode = ?1), 0), coalesce(max(mode = ?2), 0)"
            "  FROM claims WHERE condition = names.condition AND name = names.name),"
            " keep_until = CASE keep_until WHEN 0 THEN 0 ELSE ?3 END")
        .with(raw(claim_mode::permits), raw(claim_mode::shared), time + limits_kept)
        .run();
    file.execute_script("DELETE FROM names WHERE holders = 0 AND cells = 0 AND keep_until = 0;");
    file.query("UPDATE cells SET expires = ? + ttl").with(time).run();
    // Their times were those of another clock, by which nothing is old: all ballots count for every name from now on.
    make_ballot_tables(file);
    file.execute_script(
        "DELETE FROM ballots;"
        "UPDATE ballot_windows SET floor = max(floor, older, recent), older = 0, recent = 0;");
    file.query("UPDATE state SET boot = ?, time_namespace = ?, watches = 0, counted = 0, swept = 0")
        .with(clock.boot, clock.time_namespace)
        .run();
}

}  // namespace holdfast::stores::file
