// condition_variable: a queue between two clients, without polling.
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

namespace {

/// What both sides can reach, such as a table; here, a variable.
std::deque<int> queue;

void produce(char const* url) {
    holdfast::client client{url};
    holdfast::mutex guard{client, "jobs"};
    holdfast::condition_variable filled{client, "jobs"};  // may have the name of its mutex
    for (int job = 1; job <= 5; ++job) {
        {
            std::lock_guard const lock{guard};
            queue.push_back(job);
        }
        filled.notify_one();
    }
}

}  // namespace

int main(int argc, char** argv) {
    auto const* const url = argc > 1 ? argv[1] : "memory:";
    holdfast::client client{url};
    holdfast::mutex guard{client, "jobs"};
    holdfast::condition_variable filled{client, "jobs"};

    std::jthread const other{[url] { produce(url); }};
    int sum = 0;
    for (int done = 0; done < 5; ++done) {
        std::unique_lock lock{guard};
        // Waits in the store's line from before the mutex is free: no notice is lost.
        filled.wait(lock, [&] { return !queue.empty(); });
        std::cout << "job " << queue.front() << '\n';
        sum += queue.front();
        queue.pop_front();
    }
    return sum == 15 ? 0 : 1;
}
