// What a program sees when its store is away, and what it can do about it.
//
//     outage [STORE]      a store that cannot be reached
#include <chrono>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

void settle_accounts() {}
void skip_this_round(std::string const& why) { std::cout << "skipped: " << why << '\n'; }

// An acquire that cannot reach its store throws. Where nobody catches it, std::terminate ends the program.
void guard_that_may_throw(holdfast::mutex& accounts) {
    try {
        std::lock_guard const guard{accounts};
        settle_accounts();
    } catch (std::system_error const& error) {
        if (error.code() != holdfast::errc::store_unavailable) throw;
        skip_this_round(error.what());
    }
}

// Work under a lease asks from time to time whether it still may.
bool settle_step_by_step(holdfast::lease const& lease) {
    std::stop_token const lost = lease.lost();
    for (int step = 0; step < 3; ++step) {
        if (lost.stop_requested()) return false;
        settle_accounts();
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    std::string const store = argc > 1 ? argv[1] : "redis://127.0.0.1:1?timeout=100ms";
    // How long a call without a limit of its own waits for the store to come back: 10 s unless you say otherwise.
    holdfast::client client{store, {.patience = 300ms}};
    holdfast::mutex accounts{client, "accounts"};

    guard_that_may_throw(accounts);

    try {
        // "Somebody else has it" is an empty optional; "nobody answers" is an exception.
        if (auto lease = accounts.try_acquire_for(200ms)) settle_step_by_step(*lease);
    } catch (std::system_error const& error) {
        skip_this_round(error.code().message());
    }

    // A program that starts before its store: ask until it answers, then begin.
    for (int attempt = 1; attempt <= 3; ++attempt) {
        try {
            client.ping();
            return 0;
        } catch (std::system_error const& error) {
            std::cout << "attempt " << attempt << ": " << error.code().message() << '\n';
        }
    }
    return argc > 1 ? 1 : 0;  // without an argument nobody was expected there
}
