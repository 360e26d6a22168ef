// One connection to the SQLite file: transactions and prepared statements.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <sqlite3.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "stores/file/fault.hpp"

namespace holdfast::stores::file {

class database;

/// One execution of a prepared statement. Ends, and frees the statement, with its scope; the text
/// that was bound must live as long.
class cursor {
public:
    cursor(database& whose, sqlite3_stmt* statement) noexcept
        : its_{whose}, statement_{statement} {}
    cursor(cursor const&) = delete;
    cursor& operator=(cursor const&) = delete;
    ~cursor() { sqlite3_reset(statement_); }

    template <class... Values>
    cursor& with(Values const&... values) {
        int at = 0;
        (bind(++at, values), ...);
        return *this;
    }

    /// Whether there is a further row. Throws `fault`.
    bool next();
    void run() {
        while (next()) {}
    }

    [[nodiscard]] std::int64_t integer(int column) const noexcept {
        return sqlite3_column_int64(statement_, column);
    }
    template <class T>
    [[nodiscard]] T as(int column) const noexcept {
        return static_cast<T>(integer(column));
    }
    [[nodiscard]] bool null(int column) const noexcept {
        return sqlite3_column_type(statement_, column) == SQLITE_NULL;
    }
    [[nodiscard]] std::string text(int column) const;

private:
    void bind(int at, std::int64_t value);
    void bind(int at, std::string_view value);
    void bind(int at, std::string const& value) { bind(at, std::string_view{value}); }
    void bind(int at, char const* value) { bind(at, std::string_view{value}); }
    void bind(int at, std::uint64_t value) { bind(at, static_cast<std::int64_t>(value)); }
    void bind(int at, std::uint32_t value) { bind(at, std::int64_t{value}); }
    void bind(int at, bool value) { bind(at, std::int64_t{value ? 1 : 0}); }

    database& its_;
    sqlite3_stmt* statement_;
};

/// Thread-safety: none; its owner serialises.
class database {
public:
    /// Opens an existing file, and waits for those who have it locked until `patience`. Throws `fault`,
    /// in whose words `timeout` is what the user has asked for.
    database(std::string path, std::chrono::milliseconds timeout, base::instant patience);
    database(database const&) = delete;
    database& operator=(database const&) = delete;
    ~database();

    /// Once the file is known to be ours: write-ahead log, fit for many short transactions.
    void tune();

    /// `sql` must be a literal: its address is the key under which the statement is kept.
    [[nodiscard]] cursor query(char const* sql);
    void execute(char const* sql) { query(sql).run(); }
    /// Several statements at once, not kept.
    void execute_script(char const* sql);

    /// Begins a transaction that may write, waiting for other writers until `patience`.
    void begin(base::instant patience);
    /// The same for one that only reads, and hardly ever waits.
    void begin_reading(base::instant patience) {
        patience_ = patience;
        execute("BEGIN");
    }
    void commit() { execute("COMMIT"); }
    void rollback() noexcept;

    /// Before a client leaves: moves the log into the file when it is long enough to slow down whoever
    /// opens the file next.
    void shorten_log() noexcept;

    /// Whether the path names another file now, or none.
    [[nodiscard]] bool moved() noexcept;

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[noreturn]] void fail(int code);

    /// Gives the connection away unclosed, with its statements: in the child of a fork it is the
    /// parent's. Touches neither SQLite nor the allocator.
    [[nodiscard]] sqlite3* release() noexcept;
    static void close(sqlite3* connection) noexcept;
    [[nodiscard]] bool connected() const noexcept { return connection_ != nullptr; }

private:
    static int on_busy(void* self, int tries) noexcept;
    static int on_commit(void* self, sqlite3* connection, char const* name, int frames) noexcept;

    std::string path_;
    std::chrono::milliseconds timeout_;
    base::instant patience_{};
    base::random random_;
    int frames_{0};  ///< in the log, after our last commit
    sqlite3* connection_{nullptr};
    std::unordered_map<char const*, sqlite3_stmt*> statements_;
};

}  // namespace holdfast::stores::file
