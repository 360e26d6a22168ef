// Locks and unlocks in the store that is given.
#include <cstdio>
#include <mutex>

#include <holdfast/holdfast.hpp>

int main(int, char** argv) {
    holdfast::client client{argv[1]};
    holdfast::mutex orders{client, "orders/42"};
    std::lock_guard const guard{orders};
    std::printf("holdfast %s locked orders/42 in %s\n", HOLDFAST_VERSION_STRING, argv[1]);
}
