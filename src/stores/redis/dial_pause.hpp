// When a connection that has ended may be made again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace holdfast::stores::redis {

/// Pauses grow from failure to failure. They begin small again when the connection has proved useful, or has lasted for a
/// while.
///
/// Thread-safety: none; its owner serialises.
class dial_pause {
public:
    explicit dial_pause(std::uint64_t seed) : random_{seed} {}

    void begin(base::instant now) noexcept { dialled_ = now; }
    /// When the last try was made.
    [[nodiscard]] base::instant begun() const noexcept { return dialled_; }
    /// No new try before.
    [[nodiscard]] base::instant over() const noexcept { return rest_until_; }

    void become_ready(base::instant now) noexcept { ready_since_ = now; }
    void prove() noexcept { failures_ = 0; }
    /// Another server is dialled from now on.
    void forget() noexcept {
        failures_ = 0;
        dialled_ = rest_until_ = {};
    }

    /// The connection has ended. `was_ready`: it had become so.
    void end(bool was_ready, base::instant now) {
        using std::chrono::nanoseconds;
        if (was_ready && now - ready_since_ >= useful_after) failures_ = 0;
        // The first try after a connection that worked is made at once, unless it was made just now.
        rest_until_ = base::after(dialled_, first_pause);
        if (auto const before = failures_++; !was_ready || before > 0) {
            auto const doublings = std::min(before, 10);
            auto const cap = was_ready && before < short_pauses ? short_pause : longest_pause;
            auto const span = std::min<nanoseconds>(cap, first_pause * (1 << doublings));
            auto const half = static_cast<std::uint64_t>(span.count() / 2);
            rest_until_ = std::max(rest_until_, now + span / 2 + nanoseconds{random_.below(half)});
        }
    }

private:
    static constexpr std::chrono::milliseconds useful_after{250};
    static constexpr std::chrono::milliseconds first_pause{20};
    static constexpr std::chrono::milliseconds longest_pause{1000};
    // Where connections are ended again and again, as by an operator's script, somebody who waits for
    // messages must not be without them for most of the time.
    static constexpr std::chrono::milliseconds short_pause{100};
    static constexpr int short_pauses = 16;

    base::random random_;
    int failures_{0};
    base::instant dialled_{};
    base::instant ready_since_{};
    base::instant rest_until_{};
};

}  // namespace holdfast::stores::redis
