// A first program: counts in a file, and never at the same time as another copy of itself.
//
//     getting_started [STORE]
#include <chrono>
#include <fstream>
#include <iostream>
#include <mutex>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

int count_in(char const* path) {
    int count = 0;
    std::ifstream{path} >> count;
    std::ofstream{path} << ++count;
    return count;
}

}  // namespace

int main(int argc, char** argv) try {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::mutex counter{client, "counter"};

    {
        std::lock_guard const guard{counter};  // waits until nobody else has it
        std::cout << "counted to " << count_in("counter.txt") << '\n';
    }

    if (auto lease = counter.try_acquire_for(2s)) {  // the same with a limit, and with a token
        std::cout << "counted to " << count_in("counter.txt") << " with token " << lease->token()
                  << '\n';
    } else {
        std::cout << "somebody else has had it for two seconds\n";
    }
    return 0;
} catch (std::system_error const& error) {
    std::cerr << "no counting today: " << error.what() << '\n';
    return 1;
}
