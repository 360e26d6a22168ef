// A lease: work that stops when its hold is lost, and a resource that refuses a late write.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <stop_token>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

namespace {

// Stands for a database row or an object in a bucket. Only it can refuse a write that comes late:
// a paused process does not know that it was paused. One compare-and-set must do both steps.
class guarded_row {
public:
    bool write(int value, std::uint64_t token) {
        std::lock_guard const guard{mutex_};
        if (token < highest_) return false;
        highest_ = token;
        value_ = value;
        return true;
    }

private:
    std::mutex mutex_;
    std::uint64_t highest_{0};
    int value_{0};
};

}  // namespace

int main(int argc, char** argv) {
    holdfast::client client{argc > 1 ? argv[1] : "memory:"};
    holdfast::mutex report{client, "reports/daily", {.lease = 5s, .grace = 500ms}};
    guarded_row row;

    auto first = report.acquire();
    std::cout << "holds for " << first.remaining().count() << " ms more, unless renewed\n";
    if (!row.write(1, first.token())) return 1;

    // Callbacks run on the client's notifier thread and may release the lease.
    std::atomic<bool> told{false};
    std::stop_callback const on_loss{first.lost(), [&] {
                                         told = true;
                                         told.notify_all();
                                     }};

    client.evict("reports/daily");  // somebody frees it by force
    told.wait(false);               // the work goes on until it is told
    std::cout << to_string(first.state()) << ": " << first.loss_reason() << '\n';

    auto second = report.acquire();
    bool const newer = row.write(2, second.token());
    bool const older = row.write(3, first.token());  // the write that comes too late
    std::cout << "the new holder's write: " << (newer ? "taken" : "refused") << '\n'
              << "the old holder's write: " << (older ? "taken" : "refused") << '\n'
              << "release of the old lease: " << to_string(first.release()) << '\n';
    return newer && !older && second.token() > first.token() ? 0 : 1;
}
