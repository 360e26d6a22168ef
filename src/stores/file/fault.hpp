// What SQLite reports, turned into an error that names the file and says what to do.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace holdfast::stores::file {

/// A request could not be carried out; nothing of it took effect.
class fault : public std::exception {
public:
    fault(base::error why, bool broken, bool busy = false)
        : why_{std::move(why)}, broken_{broken}, busy_{busy} {}

    [[nodiscard]] char const* what() const noexcept override { return why_.text.c_str(); }
    [[nodiscard]] base::error const& why() const noexcept { return why_; }

    /// Whether the connection is of no further use: the next request begins with a new one.
    [[nodiscard]] bool broken() const noexcept { return broken_; }

    /// Whether others had the file locked: the same may succeed a moment later.
    [[nodiscard]] bool busy() const noexcept { return busy_; }

private:
    base::error why_;
    bool broken_;
    bool busy_;
};

/// The file cannot be used as it is.
[[noreturn]] inline void refuse(errc why, std::string words) {
    throw fault{base::error{why, std::move(words)}, true};
}

/// What is known when SQLite says no.
struct sqlite_report {
    int code{0};          ///< extended result code
    int system_error{0};  ///< errno of the failed call, or 0
    std::string words;    ///< SQLite's own
};

[[nodiscard]] fault make_fault(sqlite_report const& report, std::string const& path,
                               std::chrono::milliseconds timeout);

}  // namespace holdfast::stores::file
