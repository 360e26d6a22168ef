// Loaded before a server starts (LD_PRELOAD): its wall clock is HOLDFAST_TEST_CLOCK_AHEAD seconds ahead of
// the machine's. Debian's libfaketime does not go together with the allocator of redis-server.
#include <cstdlib>
#include <ctime>

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

time_t ahead() noexcept {
    static char const* const text = std::getenv("HOLDFAST_TEST_CLOCK_AHEAD");
    return text == nullptr ? 0 : std::atol(text);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* out) noexcept {
    auto const status = static_cast<int>(::syscall(SYS_clock_gettime, which, out));
    if (status == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        out->tv_sec += ahead();
    return status;
}

int gettimeofday(timeval* out, void*) noexcept {
    timespec now{};
    auto const status = clock_gettime(CLOCK_REALTIME, &now);
    constexpr long nanoseconds = 1'000;
    if (out != nullptr) *out = {now.tv_sec, now.tv_nsec / nanoseconds};
    return status;
}

time_t time(time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != nullptr) *out = now.tv_sec;
    return now.tv_sec;
}
}
