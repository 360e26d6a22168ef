// semaphore: at most so many at a time, over all processes. Permits of the dead come back.
#include <chrono>
#include <iostream>
#include <system_error>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    holdfast::client client{url};
    holdfast::semaphore connections{client, "mail/connections", 3};

    connections.acquire(2);                    // by client: any thread may give them back
    auto third = connections.acquire_lease();  // by lease: ends with its lease, has a token
    if (connections.try_acquire_for(50ms)) return 1;
    std::cout << connections.available() << " free of " << connections.limit() << '\n';

    third.release();
    connections.release(2);

    // The limit in force is the store's, not the program's: it can be changed for all.
    connections.set_limit(1);
    connections.acquire();
    if (connections.try_acquire()) return 1;
    connections.release();
    connections.set_limit(3);

    // Programs must agree on the limit that they declare.
    holdfast::client other{url};
    holdfast::semaphore disagreeing{other, "mail/connections", 5};
    try {
        disagreeing.acquire();
    } catch (std::system_error const& error) {
        std::cout << error.what() << '\n';
        return error.code() == holdfast::errc::limit_mismatch ? 0 : 1;
    }
    return 1;
}
