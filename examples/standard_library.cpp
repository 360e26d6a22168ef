// Two names at once with std::scoped_lock, and waiting with std::condition_variable_any.
#include <condition_variable>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

namespace {

// Threads lock the two in opposite orders; std::scoped_lock avoids the deadlock.
int transfers(holdfast::mutex& left, holdfast::mutex& right) {
    constexpr int each = 50;
    int done = 0;  // guarded by both
    auto const move_money = [&](holdfast::mutex& from, holdfast::mutex& to) {
        for (int i = 0; i < each; ++i) {
            std::scoped_lock const both{from, to};
            ++done;
        }
    };
    {
        std::jthread const other{move_money, std::ref(left), std::ref(right)};
        move_money(right, left);
    }
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::mutex left{client, "accounts/1"};
    holdfast::mutex right{client, "accounts/2"};
    auto const count = transfers(left, right);
    std::cout << count << " transfers\n";

    // The condition is told about inside this process only; the mutex holds everywhere.
    holdfast::mutex queue_mutex{client, "queue"};
    std::condition_variable_any changed;
    std::vector<std::string> queue;
    std::jthread const producer{[&] {
        std::lock_guard const guard{queue_mutex};
        queue.emplace_back("a job");
        changed.notify_one();
    }};
    std::unique_lock lock{queue_mutex};
    changed.wait(lock, [&] { return !queue.empty(); });
    std::cout << "got " << queue.back() << " under token " << queue_mutex.token() << '\n';
    return count == 100 && queue.size() == 1 ? 0 : 1;
}
