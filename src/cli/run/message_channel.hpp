// Messages between supervisor and holder. Its end tells each of them that the other died.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.hpp"

namespace holdfast::cli {

enum class message_kind : std::uint8_t {
    // from the holder
    waiting,   ///< text: who is waited for, for a terminal
    silent,    ///< text: what is tried while the store does not answer, for a log
    granted,   ///< number: the token; text: the store's URL without its password; presence
    failed,    ///< number: the exit status; text: what to say, if anything
    lost,      ///< text: why
    released,  ///< number: a `hold_end`; text: what to say, if anything
    // from the supervisor
    cancel,  ///< end the wait
    done,    ///< the command has ended: give the name back
};

/// How the hold had ended when the command was over.
enum class hold_end : std::uint8_t { in_time, lost };

struct message {
    message_kind kind{};
    std::uint64_t number{0};
    std::string text{};
    base::descriptor
        presence{};  ///< see detail::share_presence; none where the store knows of none
};

class message_channel {
public:
    explicit message_channel(base::descriptor end) noexcept : end_{std::move(end)} {}

    [[nodiscard]] int descriptor() const noexcept { return end_.get(); }

    /// False when the other side is gone.
    bool send(message const& message) noexcept;

    /// Waits; nothing when the other side is gone.
    [[nodiscard]] std::optional<message> receive() noexcept;

private:
    base::descriptor end_;
};

/// The two ends.
[[nodiscard]] std::pair<message_channel, message_channel> make_message_channel();

}  // namespace holdfast::cli
