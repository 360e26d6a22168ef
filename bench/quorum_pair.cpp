// Acquire and release on a quorum of five Redis servers without contention, one thread: beside one of them, each a
// millisecond away, and beside five blocking sockets that send the same scripts.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "delay_proxy.hpp"
#include "duel.hpp"
#include "redis_calls.hpp"

namespace {

constexpr std::chrono::microseconds delay{1000};
constexpr int rounds = 9;
constexpr int pairs = 1'000;
constexpr int delayed_pairs = 150;
// Of one member's time, no more than so many times as much.
constexpr double goal_of_five = 1 / 1.5;
constexpr double goal_with_one_silent = 1 / 2.0;
constexpr double goal_of_sockets = 0.8;

template <class Pair>
double rate(int count, Pair&& pair) {
    return count / bench::seconds([&] {
               for (int i = 0; i < count; ++i)
                   pair();
           });
}

std::string quorum_of(std::vector<std::string> const& addresses) {
    std::string out = "quorum+redis://";
    for (auto const& each : addresses)
        out += (&each == &addresses.front() ? "" : ",") + each;
    return out;
}

/// A side that acquires and releases, each waited for.
bench::side holder(std::string name, holdfast::mutex& mutex, int count) {
    return {std::move(name),
            [&mutex, count] { return rate(count, [&] { (void)mutex.acquire().release(); }); }};
}

void with_delay(std::vector<std::uint16_t> const& ports) {
    bench::delay_proxy proxy{ports, delay};
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < ports.size(); ++i)
        addresses.push_back(proxy.address(i));
    // The members of a quorum have tokens of another kind: a name of its own for each side.
    holdfast::client one{"redis://" + addresses.front() + "?prefix=one:"};
    holdfast::client five{quorum_of(addresses) + "?prefix=far:"};
    holdfast::mutex at_one{one, "bench/pair"};
    holdfast::mutex at_five{five, "bench/pair"};
    auto const limit = holder("one server", at_one, delayed_pairs);
    auto const ours = holder("a quorum of five", at_five, delayed_pairs);
    bench::duel("quorum: acquire + release, each server a millisecond away", ours, limit, rounds,
                goal_of_five);
    proxy.silence(ports.size() - 1, true);
    bench::duel("quorum: the same with one of the five silent", ours, limit, rounds,
                goal_with_one_silent);
    proxy.silence(ports.size() - 1, false);
}

/// Sends the same scripts to all, and waits for all.
class sockets {
public:
    explicit sockets(std::vector<std::uint16_t> const& ports) {
        for (auto const port : ports) {
            auto const& made = all_.emplace_back(
                std::make_unique<bench::wire>("redis://127.0.0.1:" + std::to_string(port)));
            bench::caller::load(*made);
        }
        ballot_ = microseconds_of(*all_.front());
    }
    void pair() {
        auto const calls = caller_.ballot_calls("bench/pair", ++ballot_);
        ask(calls.lock);
        ask(calls.unlock);
    }

private:
    // Where ballots begin: a lower one is refused, which would cost next to nothing.
    static std::uint64_t microseconds_of(bench::wire& server) {
        std::string const answer{server.ask(holdfast::stores::redis::command{"TIME"})};
        auto const seconds = answer.find('\n', answer.find('$')) + 1;
        return 1'000'000 * std::strtoull(answer.c_str() + seconds, nullptr, 10);
    }

    static bool does_nothing(std::string_view answer) {
        return answer.find("refused") != std::string_view::npos ||
               answer.find("gone") != std::string_view::npos;
    }

    void ask(std::string const& bytes) {
        for (auto const& each : all_)
            each->send(bytes);
        for (auto const& each : all_)
            if (auto const said = each->answer(); does_nothing(said))
                throw std::runtime_error{"a server does less than it should: " + std::string{said}};
    }

    std::vector<std::unique_ptr<bench::wire>> all_;
    bench::caller caller_;
    std::uint64_t ballot_{0};
};

void without_delay(std::vector<std::uint16_t> const& ports) {
    std::vector<std::string> addresses;
    for (auto const port : ports)
        addresses.push_back("127.0.0.1:" + std::to_string(port));
    holdfast::client client{quorum_of(addresses) + "?prefix=near:"};
    holdfast::mutex mutex{client, "bench/pair"};
    sockets bare{ports};
    bench::duel("quorum: acquire + release on five servers, one thread",
                holder("holdfast::mutex", mutex, pairs),
                {"five blocking sockets, the same scripts",
                 [&] { return rate(pairs, [&] { bare.pair(); }); }},
                rounds, goal_of_sockets);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fputs("usage: quorum_pair PORT PORT PORT PORT PORT\n", stderr);
        return 2;
    }
    std::vector<std::uint16_t> ports;
    for (int i = 1; i < argc; ++i)
        ports.push_back(static_cast<std::uint16_t>(std::atoi(argv[i])));
    without_delay(ports);
    with_delay(ports);
}
