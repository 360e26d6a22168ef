// Where `holdfast unlock` finds the process that has the hold of a shell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/descriptor.hpp"

namespace holdfast::cli {

/// What a shell holds: the same three for `lock`, `lock --check` and `unlock`.
struct shell_claim {
    pid_t shell;
    std::string store;  ///< its URL; a password in it does not matter
    std::string name;
};

enum class hold_request : std::uint8_t { check, release };
enum class hold_answer : std::uint8_t {
    held,      ///< to `check`
    released,  ///< to `release`: it was held until now
    lost,      ///< it had ended before
    unknown,   ///< to `release`: the store did not confirm it
};

struct hold_reply {
    hold_answer answer{};
    std::uint64_t token{0};
    std::string text{};  ///< why it was lost
};

/// Asks the holder of the claim; nothing when there is none. Waits as long as the holder takes.
[[nodiscard]] std::optional<hold_reply> ask_holder(shell_claim const& claim, hold_request request);

/// The holder's side. The address is an abstract one: it ends with its process and leaves nothing behind.
class rendezvous {
public:
    /// Throws std::system_error; EADDRINUSE when the claim has a holder.
    explicit rendezvous(shell_claim const& claim);

    [[nodiscard]] int descriptor() const noexcept { return listener_.get(); }

    /// One who asks, of the same user or the superuser, and what for.
    struct visitor {
        base::descriptor line;
        hold_request request;
        void answer(hold_reply const& reply) const noexcept;
    };
    /// Nothing when who came is somebody else, or has gone.
    [[nodiscard]] std::optional<visitor> next() const noexcept;

private:
    base::descriptor listener_;
};

}  // namespace holdfast::cli
