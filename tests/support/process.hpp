// Another process that a test talks to, line by line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "support/eventually.hpp"

namespace holdfast::support {

/// Killed and reaped when the object ends. Not thread-safe.
class process {
public:
    /// `command` is a program's path and its arguments.
    explicit process(std::vector<std::string> command);
    ~process();
    process(process const&) = delete;
    process& operator=(process const&) = delete;

    [[nodiscard]] pid_t id() const noexcept { return id_; }

    /// Writes one line to its standard input.
    void send(std::string_view line);

    /// The next line of its standard output; throws when none comes in time.
    [[nodiscard]] std::string read(std::chrono::milliseconds bound = patience);

    /// One line there and one line back.
    [[nodiscard]] std::string ask(std::string_view line) {
        send(line);
        return read();
    }

    void signal(int number) const;

    /// Stops it with SIGSTOP and waits until it stands still.
    void stop();
    void resume() const;

    /// Kills it with SIGKILL and waits until it is gone.
    void kill();

    /// Closes its standard input and waits for its end: the exit status, or 128 + the signal.
    [[nodiscard]] int finish(std::chrono::milliseconds bound = patience);

private:
    [[nodiscard]] std::optional<std::string> take_line();
    bool reap(int options);

    pid_t id_{-1};
    int to_{-1};
    int from_{-1};
    std::string buffer_{};
    std::optional<int> status_{};
};

}  // namespace holdfast::support
