// A mutex between processes, used like one of the standard library, and once as a lease.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <stop_token>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

void settle() { std::cout << "settled, alone\n"; }

void write_row(std::uint64_t token) { std::cout << "written with token " << token << '\n'; }

void long_job(std::stop_token const& lost) {
    if (!lost.stop_requested()) std::cout << "the long job is done\n";
}

}  // namespace

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};  // one per process and store
    holdfast::mutex orders{client, "orders/42"};              // no I/O yet

    {
        std::lock_guard guard{orders};  // all of <mutex> works
        settle();
    }

    if (auto lease = orders.try_acquire_for(2s)) {
        write_row(lease->token());  // the fencing token: let the resource refuse a smaller one
        long_job(lease->lost());    // a std::stop_token: fires when the hold is lost
        auto const outcome = lease->release();
        std::cout << to_string(outcome) << '\n';
        return outcome == holdfast::release_outcome::released ? 0 : 1;
    }
    return 1;  // somebody else held it for two seconds
}
