// How often a contended name changes its owner, between processes on Redis. Prints one line for tools/bench,
// which runs other libraries beside it: acquisitions and owner changes per second.
#include <cstdio>
#include <string>
#include <string_view>

#include "duel.hpp"
#include "redis_crowds.hpp"

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("usage: redis_owners URL barging|fair|bare PROCESSES SECONDS\n", stderr);
        return 2;
    }
    std::string_view const which{argv[2]};
    auto const order = which == "fair" ? holdfast::ordering::fair : holdfast::ordering::barging;
    bench::crowd const all{
        std::atoi(argv[3]), 1,
        which == "bare" ? bench::bare::member(argv[1]) : bench::holdfast_member(argv[1], order, 1)};
    all.settle_in();
    auto const acquired = all.acquired();
    auto const changes = all.changes();
    auto const took =
        bench::seconds([&] { bench::crowd::pause(std::chrono::seconds{std::atoi(argv[4])}); });
    std::printf("%.0f %.0f\n", double(all.acquired() - acquired) / took,
                double(all.changes() - changes) / took);
}
