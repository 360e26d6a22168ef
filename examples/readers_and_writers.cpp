// shared_mutex: readers together, a writer alone, and from writing to reading without a gap.
#include <iostream>
#include <shared_mutex>
#include <system_error>

#include <holdfast/holdfast.hpp>

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    holdfast::client one{url};
    holdfast::client other{url};
    holdfast::shared_mutex prices{one, "prices"};
    holdfast::shared_mutex same_prices{other, "prices"};

    {
        std::shared_lock const reader{prices};
        std::shared_lock const another{same_prices};  // both at once
        if (same_prices.try_acquire()) return 1;      // no writer beside them
    }

    auto writer = prices.acquire();
    if (same_prices.try_acquire_shared()) return 1;  // no reader beside the writer
    std::cout << "written under token " << writer.token() << '\n';

    prices.downgrade(writer);  // nobody can write in between
    auto reader = same_prices.acquire_shared();
    std::cout << "read by two\n";

    // A hold is never made stronger: two that wait to be stronger would wait for each other.
    std::shared_lock const by_thread{prices};
    try {
        prices.lock();
    } catch (std::system_error const& error) {
        std::cout << error.what() << '\n';
        return error.code() == holdfast::errc::would_deadlock ? 0 : 1;
    }
    return 1;
}
