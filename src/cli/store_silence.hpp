// A time in which a store does not answer: how long it lasts, and what was tried.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/client.hpp>

#include "base/clock.hpp"
#include "trouble_log.hpp"

namespace holdfast::cli {

/// Silence that is over sooner is not worth a word.
inline constexpr std::chrono::seconds worth_telling{1};

/// Begins with its construction, at a request that `client` is about to make.
class store_silence {
public:
    /// `limit` is when the request is given up; none where that is not known.
    store_silence(client client, trouble_log log, std::optional<std::chrono::milliseconds> limit);

    /// Whether the store has answered anything since this client was made. The first request of most is
    /// followed by others, which tells; one that is not ends the command.
    [[nodiscard]] bool is_first_contact() const;

    [[nodiscard]] std::chrono::milliseconds age() const;

    /// "try 7, 3.1s of 10s: redis://… cannot be reached: Connection refused"; without a limit "try 7, 3.1s: …".
    [[nodiscard]] std::string text() const;

private:
    client client_;
    trouble_log log_;
    std::optional<std::chrono::milliseconds> limit_;
    std::uint64_t failed_before_;
    base::instant since_{base::boot_clock::now()};
};

}  // namespace holdfast::cli
