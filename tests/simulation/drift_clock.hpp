// The clock of one simulated machine: its own rate and its own idea of when the world began.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation {

class drift_clock {
public:
    /// `drift` in parts per million: 10,000 is one percent too fast.
    drift_clock(std::chrono::nanoseconds offset, std::int64_t drift) noexcept
        : offset_{offset}, drift_{drift} {}

    [[nodiscard]] base::instant read(moment true_time) const noexcept {
        auto const since = true_time - from_;
        return base::instant{offset_ + since + since * drift_ / million};
    }

    /// The first moment of true time at which this clock shows `shown` or more.
    [[nodiscard]] moment when(base::instant shown) const noexcept {
        auto const passed = shown.time_since_epoch() - offset_;
        auto out = from_ + passed - passed / (million + drift_) * drift_;
        out -= std::chrono::nanoseconds{2 * (drift_ < 0 ? -drift_ : drift_)};
        while (read(out) < shown)
            out += std::max(moment{1}, (shown - read(out)) / 2);
        return out;
    }

    /// From now on another rate: outside the fault model when it is far from the others.
    void change_rate(moment now, std::int64_t drift) noexcept {
        offset_ = read(now).time_since_epoch();
        from_ = now;
        drift_ = drift;
    }

private:
    static constexpr std::int64_t million = 1'000'000;
    std::chrono::nanoseconds offset_;
    moment from_{0};
    std::int64_t drift_;
};

}  // namespace holdfast::simulation
