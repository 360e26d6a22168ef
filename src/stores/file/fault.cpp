#include "stores/file/fault.hpp"

#include <cerrno>
#include <system_error>

#include <sqlite3.h>

namespace holdfast::stores::file {

namespace {

constexpr int primary_code = 0xff;

bool forbidden(int number) noexcept {
    return number == EACCES || number == EPERM || number == EROFS;
}

}  // namespace

fault make_fault(sqlite_report const& report, std::string const& path,
                 std::chrono::milliseconds timeout) {
    auto const told = [&] {
        auto words = " (SQLite: " + report.words;
        if (report.system_error != 0)
            words += "; " + std::system_category().message(report.system_error);
        return words + ")";
    }();
    auto const say = [&](errc why, std::string const& words, bool broken, bool busy = false) {
        return fault{base::error{why, "the store file '" + path + "' " + words + told}, broken,
                     busy};
    };
    switch (report.code & primary_code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return say(errc::store_unavailable,
                   "was kept locked by other processes; if one of them is stopped, continue or end "
                   "it, else raise ?timeout= above " +
                       std::to_string(timeout.count()) + "ms",
                   false, true);
    case SQLITE_NOTADB:
        return say(errc::bad_url,
                   "is not a store of holdfast, nor any SQLite database; choose another path",
                   true);
    case SQLITE_CORRUPT:
        return say(errc::store_unavailable,
                   "is damaged; stop all processes that use it and remove it together with the "
                   "files whose names begin with it: all holds in it are lost, tokens go on rising",
                   true);
    case SQLITE_FULL:
        return say(errc::store_unavailable,
                   "cannot grow because its disk is full or a quota is reached; free some space, "
                   "nothing that was granted is lost",
                   false);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return say(
            errc::access_denied,
            "cannot be written; give this user the right to write the file and its "
            "directory, on a file system that is mounted for writing, or choose another path",
            true);
    case SQLITE_CANTOPEN:
        if (forbidden(report.system_error))
            return say(errc::access_denied,
                       "cannot be opened; give this user the right to read and write the file and "
                       "its directory, or choose another path",
                       true);
        return say(errc::store_unavailable,
                   "cannot be opened; look at its disk and at this process's limit of open files",
                   true);
    case SQLITE_IOERR:
        if (forbidden(report.system_error))
            return say(errc::access_denied,
                       "cannot be used; give this user the right to read and write the file and "
                       "its directory, or choose another path",
                       true);
        return say(errc::store_unavailable,
                   "cannot be read or written; look at the disk and at the limits of this process",
                   true);
    default: return say(errc::store_unavailable, "cannot be used", true);
    }
}

}  // namespace holdfast::stores::file
