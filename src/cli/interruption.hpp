// A wait of this process that signals end in good order.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

#include "base/event.hpp"
#include "run/signal_inbox.hpp"

namespace holdfast::cli {

/// A signal that would end the process requests a stop instead, so that nothing is left in the
/// store. A second one ends the process: the store may not answer. Ctrl-Z stops the process as usual.
///
/// Make it before any client: their threads must not get the signals.
class interruption {
public:
    interruption();
    ~interruption();
    interruption(interruption const&) = delete;
    interruption& operator=(interruption const&) = delete;

    [[nodiscard]] std::stop_token token() const noexcept { return stop_.get_token(); }

    /// The signal that came; 0 when none did.
    [[nodiscard]] int signal() const noexcept { return signal_.load(); }

private:
    void listen();

    signal_inbox signals_{};
    base::event over_{};
    std::stop_source stop_{};
    std::atomic<int> signal_{0};
    std::thread thread_;  // the last: it uses all the others
};

}  // namespace holdfast::cli
