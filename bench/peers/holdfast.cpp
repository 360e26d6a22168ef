// holdfast with its defaults; see bench/peers/README.md for the interface.
//
// usage: peer_holdfast PORT[,PORT...] one|one_lock|many|many_threads|threads|processes|fair|start SECONDS
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include "../counting.hpp"
#include "../redis_crowds.hpp"

namespace {

using bench::report;
using bench::tally;

std::string name_of(int owner) { return "bench-peer/" + std::to_string(owner); }

void count_one(tally& all) { all.acquired.fetch_add(1, std::memory_order_relaxed); }

/// So many threads, each with a name of its own; `pair` is what each does again and again.
void own_names(std::string const& url, int count, double seconds,
               std::function<void(holdfast::mutex&)> const& pair) {
    holdfast::client client{url};
    tally all;
    std::vector<std::jthread> owners;
    for (int i = 0; i < count; ++i)
        owners.emplace_back([&, i] {
            holdfast::mutex mutex{client, name_of(i)};
            while (!all.over) {
                pair(mutex);
                count_one(all);
            }
        });
    report(all, seconds);
    all.over = true;
}

void one_name(std::string const& url, double seconds) {
    tally all;
    std::jthread const crowd{
        [&] { bench::holdfast_member(url, holdfast::ordering::barging, 64)(all, 0); }};
    report(all, seconds);
    all.over = true;
}

boost::asio::awaitable<void> own(holdfast::mutex& mutex, tally& all) {
    using boost::asio::use_awaitable;
    while (!all.over) {
        auto lease = co_await holdfast::async_acquire(mutex, use_awaitable);
        count_one(all);
        co_await holdfast::async_release(std::move(lease), use_awaitable);
    }
}

void coroutines(std::string const& url, double seconds) {
    constexpr int count = 256;
    holdfast::client client{url};
    tally all;
    std::deque<holdfast::mutex> mutexes;
    boost::asio::io_context context{1};
    auto const failure = [](std::exception_ptr const& why) {
        if (why) std::rethrow_exception(why);
    };
    for (int i = 0; i < count; ++i)
        boost::asio::co_spawn(context, own(mutexes.emplace_back(client, name_of(i)), all), failure);
    std::jthread const running{[&] { context.run(); }};
    report(all, seconds);
    all.over = true;
}

void processes(std::string const& url, holdfast::ordering order, double seconds) {
    bench::crowd const members{8, 1, bench::holdfast_member(url, order, 1)};
    members.settle_in();
    report(members.counts(), seconds);
}

/// Several ports are a quorum.
std::string url_of(std::string_view ports) {
    std::string out{ports.find(',') == std::string_view::npos ? "redis://" : "quorum+redis://"};
    for (std::string_view rest = ports; !rest.empty();) {
        auto const end = std::min(rest.find(','), rest.size());
        out.append(out.back() == '/' ? "" : ",").append("127.0.0.1:").append(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: peer_holdfast PORT[,PORT...] WORKLOAD SECONDS\n", stderr);
        return 2;
    }
    auto const url = url_of(argv[1]);
    std::string_view const workload{argv[2]};
    double const seconds = std::atof(argv[3]);
    auto const both_waited_for = [](holdfast::mutex& mutex) { (void)mutex.acquire().release(); };
    auto const lock_and_unlock = [](holdfast::mutex& mutex) {
        mutex.lock();
        mutex.unlock();
    };
    if (workload == "one") {
        own_names(url, 1, seconds, both_waited_for);
    } else if (workload == "one_lock") {
        own_names(url, 1, seconds, lock_and_unlock);
    } else if (workload == "many") {
        coroutines(url, seconds);
    } else if (workload == "many_threads") {
        own_names(url, 256, seconds, both_waited_for);
    } else if (workload == "threads") {
        one_name(url, seconds);
    } else if (workload == "processes") {
        processes(url, holdfast::ordering::barging, seconds);
    } else if (workload == "fair") {
        processes(url, holdfast::ordering::fair, seconds);
    } else if (workload == "start") {
        holdfast::client client{url};
        holdfast::mutex mutex{client, "bench-peer"};
        both_waited_for(mutex);
        std::puts("{\"pairs\": 1}");
        std::fflush(stdout);
    } else {
        return 2;
    }
}
