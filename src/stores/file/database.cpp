#include "stores/file/database.hpp"

#include <utility>

#include "base/pause.hpp"

namespace holdfast::stores::file {

bool cursor::next() {
    auto const code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) its_.fail(code);
    return false;
}

std::string cursor::text(int column) const {
    auto const* const data = static_cast<char const*>(sqlite3_column_blob(statement_, column));
    auto const size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return data == nullptr ? std::string{} : std::string{data, size};
}

void cursor::bind(int at, std::int64_t value) {
    if (auto const code = sqlite3_bind_int64(statement_, at, value); code != SQLITE_OK)
        its_.fail(code);
}

void cursor::bind(int at, std::string_view value) {
    // An empty view may have no address, which SQLite would take for NULL.
    auto const* const data = value.empty() ? "" : value.data();
    auto const code =
        sqlite3_bind_text64(statement_, at, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
    if (code != SQLITE_OK) its_.fail(code);
}

database::database(std::string path, std::chrono::milliseconds timeout, base::instant patience)
    : path_{std::move(path)}, timeout_{timeout}, patience_{patience}, random_{base::entropy()} {
    // No CREATE: the file was made before, with the right mode. No mutex: the owner serialises.
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                          SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
    auto const code = sqlite3_open_v2(path_.c_str(), &connection_, flags, nullptr);
    if (code != SQLITE_OK) {
        sqlite_report const report{code,
                                   connection_ == nullptr ? 0 : sqlite3_system_errno(connection_),
                                   sqlite3_errstr(code)};
        sqlite3_close(std::exchange(connection_, nullptr));
        throw make_fault(report, path_, timeout_);
    }
    sqlite3_busy_handler(connection_, &database::on_busy, this);
    // The file may be somebody else's work: its schema gets no say.
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    if (sqlite3_db_readonly(connection_, "main") == 1) {
        sqlite_report const report{SQLITE_READONLY, 0, sqlite3_errstr(SQLITE_READONLY)};
        sqlite3_close(std::exchange(connection_, nullptr));
        throw make_fault(report, path_, timeout_);
    }
}

database::~database() {
    if (!connected()) return;
    for (auto const& [sql, statement] : statements_)
        sqlite3_finalize(statement);
    sqlite3_close(connection_);
}

void database::tune() {
    execute_script(
        // Rows are small and every changed page goes to the log as a whole. Counts for a new file.
        "PRAGMA page_size = 1024;"
        "PRAGMA journal_mode = WAL;"
        // A crash of a process loses nothing. After a loss of power the last transactions may be
        // missing, and with the boot all holds are void anyway.
        "PRAGMA synchronous = NORMAL;"
        "PRAGMA temp_store = MEMORY;");
    sqlite3_wal_hook(connection_, &database::on_commit, this);
    // Short-lived processes must not pay for a checkpoint and two removals each time they end.
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

cursor database::query(char const* sql) {
    auto& statement = statements_[sql];
    if (statement == nullptr) {
        auto const code = sqlite3_prepare_v3(connection_, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                             &statement, nullptr);
        if (code != SQLITE_OK) fail(code);
    }
    return {*this, statement};
}

void database::execute_script(char const* sql) {
    auto const code = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
}

void database::begin(base::instant patience) {
    patience_ = patience;
    execute("BEGIN IMMEDIATE");
}

void database::rollback() noexcept {
    if (sqlite3_get_autocommit(connection_) == 0)
        sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
}

// Only cutting it off helps: whoever opens the file first reads a log that was merely moved as well.
void database::shorten_log() noexcept {
    constexpr int short_enough = 256;  // read by the next one in some 200 µs
    if (frames_ <= short_enough) return;
    patience_ = base::boot_clock::now();  // others are busy with it: then it is theirs to shorten
    sqlite3_wal_checkpoint_v2(connection_, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
}

bool database::moved() noexcept {
    int yes = 0;
    sqlite3_file_control(connection_, "main", SQLITE_FCNTL_HAS_MOVED, &yes);
    return yes != 0;
}

void database::fail(int code) {
    // Only these set the number of the system's error; else it is that of an older one.
    constexpr int primary_code = 0xff;
    auto const primary = code & primary_code;
    bool const current =
        primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL;
    throw make_fault(
        {code, current ? sqlite3_system_errno(connection_) : 0, sqlite3_errmsg(connection_)}, path_,
        timeout_);
}

sqlite3* database::release() noexcept { return std::exchange(connection_, nullptr); }

void database::close(sqlite3* connection) noexcept {
    sqlite3_busy_handler(connection, nullptr, nullptr);
    while (auto* const statement = sqlite3_next_stmt(connection, nullptr))
        sqlite3_finalize(statement);
    sqlite3_close(connection);
}

// SQLite's own handler backs off to 100 ms and so starves a second writer. Transactions here last
// some tens of microseconds: short random pauses let everybody in.
int database::on_busy(void* self, int) noexcept {
    auto& whose = *static_cast<database*>(self);
    if (base::boot_clock::now() >= whose.patience_) return 0;
    constexpr std::uint64_t shortest = 50;
    constexpr std::uint64_t spread = 400;
    base::pause(std::chrono::microseconds{shortest + whose.random_.below(spread)});
    return 1;
}

// Moves the log into the file now and then. SQLite's own way never comes to an end while two processes
// write without a pause, and the log grows without bound: so the writers are kept out for a moment.
int database::on_commit(void* self, sqlite3* connection, char const*, int frames) noexcept {
    constexpr int enough = 4000;
    constexpr auto moment = std::chrono::milliseconds{20};
    auto& whose = *static_cast<database*>(self);
    whose.frames_ = frames;
    if (frames < enough) return SQLITE_OK;
    whose.patience_ = base::boot_clock::now() + moment;
    // Busy or not, the commit has happened. The next one tries again.
    sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
    return SQLITE_OK;
}

}  // namespace holdfast::stores::file
