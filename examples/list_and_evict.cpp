// Who holds what, who waits for it, and how to free a name by force.
#include <chrono>
#include <iostream>
#include <stop_token>
#include <thread>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

void print(holdfast::lock_info const& lock) {
    std::cout << lock.name << " (" << to_string(lock.kind) << ")\n";
    for (auto const& holder : lock.holders)
        std::cout << "  held by " << holder.label << ", process " << holder.pid << ", token "
                  << holder.token << ", ends in " << holder.lease_left.count() << " ms\n";
    for (auto const& waiter : lock.waiters)
        std::cout << "  wanted by " << waiter.label << ", claim " << waiter.id << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    holdfast::client worker{url, {.label = "worker"}};
    holdfast::client other{url, {.label = "other worker"}};
    holdfast::client operations{url, {.label = "operations"}};

    holdfast::mutex import{worker, "import/customers", {.lease = 3s}};
    auto lease = import.acquire();

    holdfast::mutex wanted{other, "import/customers"};
    std::jthread const waiter{[&](std::stop_token stop) { (void)wanted.acquire(stop); }};

    // A listing is for people. It is old by the time you read it: never decide by it.
    auto locks = operations.locks("import/");
    while (locks.size() != 1 || locks.front().waiters.size() != 1)
        locks = operations.locks("import/");
    print(locks.front());

    auto const freed = operations.evict("import/customers");
    std::cout << "evicted " << freed << '\n';

    // The holder learns of it, at the latest with its next renewal. renew() asks now.
    auto const state = lease.renew();
    std::cout << "the holder: " << to_string(state) << ", " << lease.loss_reason() << '\n';
    return freed == 1 && state == holdfast::lease_state::lost ? 0 : 1;
}
