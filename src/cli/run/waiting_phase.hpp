// From the start until the lock is held: signals, Ctrl-Z, and the line that says who is waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "run/foreground.hpp"
#include "run/partner.hpp"
#include "run/signal_inbox.hpp"
#include "run/wait_line.hpp"

namespace holdfast::cli {

struct taken_lock {
    std::uint64_t token{0};
    std::string store{};  ///< without its password
    base::descriptor
        presence{};  ///< keeps the name taken until the lease ends; see message_channel.hpp
};

/// What came instead of the lock.
struct refusal {
    int status{0};
};

class waiting_phase {
public:
    waiting_phase(partner& holder, signal_inbox& signals, foreground& terminal,
                  wait_line& line) noexcept
        : holder_{holder}, signals_{signals}, terminal_{terminal}, line_{line} {}

    [[nodiscard]] std::variant<taken_lock, refusal> run();

private:
    void take_signals();
    void cancel(int signal);
    void suspend();
    std::optional<std::variant<taken_lock, refusal>> take_message();

    partner& holder_;
    signal_inbox& signals_;
    foreground& terminal_;
    wait_line& line_;
    int cancelled_by_{0};
};

}  // namespace holdfast::cli
