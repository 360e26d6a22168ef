// Simulated time: events in order, and nothing between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace holdfast::simulation {

/// True time since the run began. No clock of the simulated world shows it.
using moment = std::chrono::nanoseconds;

/// Events in the order of their time, then of their making: the same run every time.
class timeline {
public:
    [[nodiscard]] moment now() const noexcept { return now_; }

    void at(moment when, std::function<void()> what) {
        events_.push_back({std::max(when, now_), ++made_, std::move(what)});
        std::push_heap(events_.begin(), events_.end(), later);
    }

    void in(moment delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Runs the next event that is due by `end`; false when there is none, and then it is `end`.
    bool step(moment end) {
        if (events_.empty() || events_.front().when > end) {
            now_ = std::max(now_, end);
            return false;
        }
        std::pop_heap(events_.begin(), events_.end(), later);
        auto next = std::move(events_.back());
        events_.pop_back();
        now_ = next.when;
        ++steps_;
        next.what();
        return true;
    }

    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

private:
    struct event {
        moment when;
        std::uint64_t order;
        std::function<void()> what;
    };
    static bool later(event const& a, event const& b) noexcept {
        return std::pair{a.when, a.order} > std::pair{b.when, b.order};
    }

    std::vector<event> events_;
    std::uint64_t made_{0};
    std::uint64_t steps_{0};
    moment now_{0};
};

}  // namespace holdfast::simulation
