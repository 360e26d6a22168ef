// Lock and unlock on memory: beside std::timed_mutex, one thread, while a second thread is alive.
#include <condition_variable>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "duel.hpp"

namespace {

constexpr int pairs = 500'000;

template <class Mutex>
double rate(Mutex& mutex) {
    return pairs / bench::seconds([&] {
               for (int i = 0; i < pairs; ++i) {
                   mutex.lock();
                   mutex.unlock();
               }
           });
}

}  // namespace

int main() {
    // With one thread alive glibc leaves out the atomic instructions of its own mutex.
    std::mutex gate;
    gate.lock();
    std::thread other{[&] { std::lock_guard const wait{gate}; }};

    holdfast::client client{"memory:"};
    holdfast::mutex ours{client, "bench"};
    std::timed_mutex theirs;
    bench::duel("memory: lock + unlock, one thread",
                {"holdfast::mutex", [&] { return rate(ours); }},
                {"std::timed_mutex", [&] { return rate(theirs); }}, 15, 0.1);
    gate.unlock();
    other.join();
}
