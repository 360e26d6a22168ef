// Exit statuses of the command: one table, which the man page repeats.
#pragma once

#include <stdexcept>
#include <system_error>

namespace holdfast::cli {

namespace exit_status {
inline constexpr int success = 0;
inline constexpr int absent = 1;        ///< nothing there of what was asked for
inline constexpr int usage = 64;        ///< the command line, a name, a URL, a duration
inline constexpr int unavailable = 69;  ///< the store does not answer or lets nobody in
inline constexpr int internal = 70;     ///< a fault of holdfast itself
inline constexpr int system = 71;  ///< the operating system refused a process, a pipe or the output
inline constexpr int not_acquired =
    75;                          ///< somebody else holds the name; nobody came; not open yet
inline constexpr int lost = 76;  ///< the hold ended while the command ran; others broke the barrier
inline constexpr int cannot_execute = 126;  ///< as a shell gives it
inline constexpr int not_found = 127;       ///< as a shell gives it

/// As a shell reports a command that a signal ended.
constexpr int signalled(int signal) noexcept { return 128 + signal; }
}  // namespace exit_status

/// A fault of the person who typed: its text is shown as it is, and the status is `usage`.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A failure whose status is known already; its text is shown as it is.
class failure : public std::runtime_error {
public:
    failure(int status, char const* text) : std::runtime_error{text}, status_{status} {}
    [[nodiscard]] int status() const noexcept { return status_; }

private:
    int status_;
};

/// The status for an error of the library or of the system.
[[nodiscard]] int status_of(std::error_code const& code) noexcept;

}  // namespace holdfast::cli
