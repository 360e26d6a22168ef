#include "bench/worker.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

#include <holdfast/client.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "error_text.hpp"
#include "exit_status.hpp"

namespace holdfast::cli {

namespace {

struct owner {
    std::function<void()> pair;  ///< one lock and unlock
    histogram latency{};
    std::thread thread{};
};

lock_options options_of(bench_plan const& plan) {
    lock_options out;
    out.order = plan.mode == bench_mode::fair ? ordering::fair : ordering::barging;
    out.label = "holdfast bench";
    return out;
}

std::function<void()> pair_of(client const& from, bench_plan const& plan, std::string const& name) {
    if (plan.mode == bench_mode::semaphore) {
        auto const all = plan.owners * plan.processes;
        auto permits = std::make_shared<semaphore>(from, name, all, options_of(plan));
        return [permits] {
            permits->acquire();
            permits->release();
        };
    }
    auto lock = std::make_shared<shared_mutex>(from, name, options_of(plan));
    if (plan.mode == bench_mode::shared) {
        return [lock] {
            lock->lock_shared();
            lock->unlock_shared();
        };
    }
    return [lock] {
        lock->lock();
        lock->unlock();
    };
}

void measure(owner& owner, std::chrono::steady_clock::time_point end) {
    for (auto begin = base::stopwatch(); begin < end;) {
        owner.pair();
        auto const now = base::stopwatch();
        owner.latency.add(now - begin);
        begin = now;
    }
}

class workshop {
public:
    explicit workshop(worker_task& task)
        : task_{task}, client_{task.plan.store, {.patience = task.plan.patience}} {
        auto const& plan = task.plan;
        for (unsigned i = 0; i < plan.owners; ++i) {
            auto const name = (task.index * plan.owners + i) % plan.names;
            owners_.push_back(std::make_unique<owner>(
                owner{pair_of(client_, plan, task.prefix + std::to_string(name))}));
        }
    }

    void run() {
        client_.ping();
        std::barrier gate{static_cast<std::ptrdiff_t>(owners_.size()) + 1};
        for (auto& each : owners_)
            each->thread = std::thread{[this, &gate, &owner = *each] { work(owner, gate); }};
        char byte = 1;
        if (::write(task_.ready.get(), &byte, 1) != 1) return;
        task_.ready.reset();
        while (::read(task_.go.get(), &byte, 1) > 0) {}
        auto const begin = base::stopwatch();
        end_ = begin + task_.plan.duration;
        gate.arrive_and_wait();
        for (auto& each : owners_)
            each->thread.join();
        task_.report.seconds = std::chrono::duration<double>(base::stopwatch() - begin).count();
        for (auto const& each : owners_)
            task_.report.latency.merge(each->latency);
        rethrow_failure();
        client_.close();
    }

private:
    void rethrow_failure() {
        base::lock_guard const guard{failure_mutex_};
        if (failure_) std::rethrow_exception(failure_);
    }

    void work(owner& owner, std::barrier<>& gate) {
        gate.arrive_and_wait();
        try {
            measure(owner, end_);
        } catch (...) {
            base::lock_guard const guard{failure_mutex_};
            if (!failure_) failure_ = std::current_exception();
        }
    }

    worker_task& task_;
    client client_;
    std::vector<std::unique_ptr<owner>> owners_{};
    std::chrono::steady_clock::time_point end_{};
    base::mutex failure_mutex_{};
    std::exception_ptr failure_ HOLDFAST_GUARDED_BY(failure_mutex_){};
};

}  // namespace

void worker_report::fail(int with, char const* words) noexcept {
    status = with;
    std::strncpy(text.data(), words, text.size() - 1);
}

void worker_report::check() const {
    if (status != 0) throw failure{status, text.data()};
    if (seconds == 0) throw failure{exit_status::system, "a process of the benchmark was killed"};
}

void run_worker(worker_task task) noexcept {
    try {
        workshop{task}.run();
    } catch (std::system_error const& error) {
        task.report.fail(status_of(error.code()), text_of(error).c_str());
    } catch (std::exception const& error) {
        task.report.fail(exit_status::internal, error.what());
    }
}

}  // namespace holdfast::cli
