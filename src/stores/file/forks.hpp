// What must happen around fork(): SQLite forbids to carry a connection into a child.
#pragma once

#include <mutex>

#include <sqlite3.h>

namespace holdfast::stores::file::forks {

/// Somebody with a connection. Registered for as long as it lives.
class party {
public:
    party();
    party(party const&) = delete;
    party& operator=(party const&) = delete;

    /// Before a fork: waits until no transaction runs and keeps it so.
    virtual void hold_still() noexcept = 0;
    /// After it, in both processes.
    virtual void go_on() noexcept = 0;
    /// Before that, in the child: gives up what is the parent's, without a call into SQLite, whose own
    /// locks may be held by threads that are not there, and without the allocator, for the same reason.
    /// Returns the connection, if there is one.
    [[nodiscard]] virtual sqlite3* part() noexcept = 0;

protected:
    ~party();
};

/// Guards the making of connections and of their files: in a process only one thread at a time does
/// it, and not during a fork. Closes what a fork left over first: SQLite would take the parent's
/// locks for our own.
[[nodiscard]] std::unique_lock<std::mutex> opening();

}  // namespace holdfast::stores::file::forks
