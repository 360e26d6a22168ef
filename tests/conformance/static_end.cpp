// A program whose client and holds are static: they end after main, in an order of their own.
//
//     static_end URL
#include <iostream>
#include <optional>
#include <string>

#include <holdfast/holdfast.hpp>

namespace {

// Made before main and ended after it; the lease may outlive the client's own handle.
std::optional<holdfast::lease> held;
std::optional<holdfast::mutex> locked;
std::optional<holdfast::client> client;

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 64;
    client.emplace(words[1]);
    held = holdfast::mutex{*client, "held"}.acquire();
    locked.emplace(*client, "locked");
    locked->lock();
    std::cout << "held " << held->token() << std::endl;
    std::string line;
    std::getline(std::cin, line);
    return 0;
}
