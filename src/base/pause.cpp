#include "base/pause.hpp"

#include <ctime>

namespace holdfast::base {

void pause(std::chrono::microseconds span) noexcept {
    constexpr long nanoseconds_per_microsecond = 1000;
    constexpr std::chrono::microseconds::rep microseconds_per_second = 1'000'000;
    timespec const wanted{
        .tv_sec = span.count() / microseconds_per_second,
        .tv_nsec = (span.count() % microseconds_per_second) * nanoseconds_per_microsecond};
    ::nanosleep(&wanted, nullptr);
}

}  // namespace holdfast::base
