// recursive_mutex: a thread that holds the name may lock it again, without asking the store.
#include <iostream>
#include <mutex>
#include <system_error>

#include <holdfast/holdfast.hpp>

namespace {

void withdraw(holdfast::recursive_mutex& account) {
    std::lock_guard const guard{account};
    std::cout << "withdrawn\n";
}

void transfer(holdfast::recursive_mutex& account) {
    std::lock_guard const guard{account};
    withdraw(account);  // nested: the same hold, the same token, no round trip
    std::cout << "transferred\n";
}

}  // namespace

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::recursive_mutex account{client, "accounts/7"};
    transfer(account);
    if (account.owns()) return 1;  // as many unlocks as locks

    // An explicit owner counts instead of the thread: for coroutines, or for jobs that move.
    holdfast::recursive_mutex mine{client, "jobs/7", {.owner = "job-7"}};
    holdfast::recursive_mutex also_mine{client, "jobs/7", {.owner = "job-7"}};
    auto outer = mine.acquire();
    auto inner = also_mine.acquire();
    if (outer.token() != inner.token()) return 1;

    // A plain mutex says at once what would never end.
    holdfast::mutex plain{client, "plain"};
    std::lock_guard const guard{plain};
    try {
        plain.lock();
    } catch (std::system_error const& error) {
        std::cout << error.what() << '\n';
        return error.code() == holdfast::errc::would_deadlock ? 0 : 1;
    }
    return 1;
}
