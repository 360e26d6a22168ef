// Retry policies: when an acquire tries again, and when it gives up.
#include <chrono>
#include <iostream>
#include <optional>
#include <system_error>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;
namespace retry = holdfast::retry;

namespace {

// A policy is any callable. This one tries five times and gives up early when the store is sick.
std::optional<std::chrono::milliseconds> five_quick_ones(retry::attempt const& last) {
    if (last.last_error) return std::nullopt;  // a failed request, not a "busy"
    std::cout << "attempt " << last.number << " was busy\n";
    if (last.number == 5) return std::nullopt;
    return 5ms;
}

}  // namespace

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::mutex usual{client, "printer"};  // no policy: queue, be told, poll slowly
    auto held = usual.acquire();

    // One attempt, which does not queue.
    holdfast::mutex once{client, "printer", {.retry = retry::never()}};
    if (once.try_acquire_for(1s)) return 1;  // answered long before the second is over

    holdfast::mutex thrice{client, "printer", {.retry = retry::fixed(10ms, 3)}};
    holdfast::mutex custom{client, "printer", {.retry = five_quick_ones}};
    if (thrice.try_acquire_for(1s) || custom.try_acquire_for(1s)) return 1;

    try {
        thrice.lock();  // cannot say "busy", so it throws
        return 1;
    } catch (std::system_error const& error) {
        if (error.code() != holdfast::errc::timed_out) return 1;
        std::cout << error.what() << '\n';
    }

    // Doubles from 5 ms to 80 ms and ends only by the deadline. A notice is faster than any delay.
    holdfast::mutex patient{client, "printer", {.retry = retry::exponential(5ms, 80ms)}};
    if (patient.try_acquire_for(50ms)) return 1;
    held.release();
    auto const lease = patient.try_acquire_for(1s);
    std::cout << (lease ? "acquired" : "still busy") << '\n';
    return lease ? 0 : 1;
}
