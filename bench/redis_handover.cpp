// Fair hand-over between processes on Redis: beside a bare hand-off script with as many processes, and
// how many commands one hand-over takes.
#include <cstdio>
#include <string>

#include "duel.hpp"
#include "redis_crowds.hpp"

namespace {

constexpr int waiters = 64;
constexpr int rounds = 7;
constexpr double goal = 0.7;
constexpr double most_commands = 3;
constexpr std::chrono::milliseconds span{1'000};

/// Hand-overs per second. One more than the waiters: somebody holds.
double rate(bench::crowd::member const& life) {
    bench::crowd const all{waiters + 1, 1, life};
    all.settle_in();
    auto const before = all.changes();
    auto const took = bench::seconds([] { bench::crowd::pause(span); });
    return double(all.changes() - before) / took;
}

/// How often the server has carried out a command that clients send; scripts never call these.
std::uint64_t commands_sent(bench::wire& to) {
    holdfast::stores::redis::command ask{"INFO"};
    ask << "commandstats";
    std::string const all{to.ask(std::move(ask))};
    std::uint64_t sum = 0;
    for (std::string const word :
         {"evalsha", "script|load", "subscribe", "ping", "client|setname"}) {
        auto const key = "cmdstat_" + word + ":calls=";
        if (auto const at = all.find(key); at != std::string::npos)
            sum += std::strtoull(all.c_str() + at + key.size(), nullptr, 10);
    }
    return sum;
}

void count_commands(std::string const& url, int processes, int threads, char const* crowd) {
    bench::wire wire{url};
    bench::crowd const all{processes, threads,
                           bench::holdfast_member(url, holdfast::ordering::fair, threads)};
    all.settle_in();
    auto const sent = commands_sent(wire);
    auto const changes = all.changes();
    bench::crowd::pause(3 * span);
    auto const handed = double(all.changes() - changes);
    auto const each = double(commands_sent(wire) - sent) / handed;
    std::printf("  %s: %.2f commands per hand-over, goal %.0f: %s (%.0f hand-overs/s)\n", crowd,
                each, most_commands, each <= most_commands ? "met" : "NOT met", handed / 3);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3) {
        std::fputs("usage: redis_handover redis://127.0.0.1:PORT [rate|commands]\n", stderr);
        return 2;
    }
    std::string const url = argv[1];
    std::string const what = argc > 2 ? argv[2] : "";
    if (what != "commands") {
        auto const ours = bench::holdfast_member(url, holdfast::ordering::fair, 1);
        auto const scripted = bench::scripted_member(url);
        auto const bare = bench::bare::member(url);
        bench::side const limit{"a list, a script and a message", [&] { return rate(bare); }};
        bench::duel("redis: fair hand-over between 65 processes",
                    {"holdfast::mutex, fair", [&] { return rate(ours); }}, limit, rounds, goal);
        bench::duel("redis: the same with our scripts alone",
                    {"the scripts, without a client", [&] { return rate(scripted); }}, limit,
                    rounds, std::nullopt);
    }
    if (what != "rate") {
        std::puts("redis: commands per fair hand-over");
        count_commands(url, 9, 1, "8 waiters, 9 processes");
        count_commands(url, 7, 143, "1,000 waiters, 7 processes");
    }
}
