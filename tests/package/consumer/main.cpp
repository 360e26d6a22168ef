// A stranger's program: it knows the installed headers and nothing else.

#include <cstdio>
#include <exception>
#include <mutex>
#include <string>

#include <holdfast/holdfast.hpp>

namespace {

bool works(std::string const& url) {
    holdfast::client client{url};
    holdfast::mutex orders{client, "orders/42"};
    { std::lock_guard guard{orders}; }
    auto lease = orders.try_acquire();
    bool const held = lease && lease->held() && lease->token() != 0;
    bool const released = held && lease->release() == holdfast::release_outcome::released;
    std::printf("%s: %s\n", url.c_str(), released ? "locked and released" : "did not work");
    return released;
}

}  // namespace

int main(int argc, char** argv) try {
    bool good = argc > 1;
    for (int i = 1; i < argc; ++i)
        good = works(argv[i]) && good;
    return good ? 0 : 1;
} catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
