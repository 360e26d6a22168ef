// Waits for conditions: a test that sleeps for a fixed time instead either races or wastes time.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace holdfast::support {

/// Generous, since it is only spent when something is wrong.
inline constexpr std::chrono::seconds patience{30};

/// Whether `met` becomes true within `bound`.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& met, std::chrono::milliseconds bound = patience) {
    auto const end = std::chrono::steady_clock::now() + bound;
    auto pause = std::chrono::microseconds{200};
    while (!met()) {
        if (std::chrono::steady_clock::now() >= end) return met();
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds{20});
    }
    return true;
}

/// Whether `met` stays true for all of `span`: for what must not happen.
template <class Condition>
[[nodiscard]] bool throughout(std::chrono::milliseconds span, Condition&& met) {
    return !eventually([&] { return !met(); }, span);
}

/// The time since it was made.
class stopwatch {
public:
    [[nodiscard]] std::chrono::milliseconds elapsed() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - start_);
    }

private:
    std::chrono::steady_clock::time_point start_{std::chrono::steady_clock::now()};
};

}  // namespace holdfast::support
