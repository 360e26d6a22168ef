// How long close() takes when the store does not let go of whoever drives it.
#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "core/terms.hpp"
#include "runtime/loop.hpp"
#include "support/eventually.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

/// Keeps one thread inside the store until it is opened. Outlives the store.
struct gate {
    std::mutex mutex;
    std::condition_variable changed;
    std::thread::id captive{};
    bool interrupted{false};
    bool open{false};
    bool occupied{false};
};

/// Tells the time, carries out nothing, or grants and nothing else, and does not let go of the captive.
class stubborn_store final : public seam::store {
public:
    explicit stubborn_store(gate& exit, bool grants = false) noexcept
        : exit_{exit}, grants_{grants} {}
    seam::capabilities abilities() const override { return {}; }
    std::optional<seam::reply> send(seam::request_id, seam::request what) noexcept override {
        constexpr seam::store_time now{1h};
        if (std::holds_alternative<seam::hello>(what)) return seam::reply{now, seam::done{}};
        if (grants_ && std::holds_alternative<seam::submit>(what))
            return seam::reply{now, seam::granted{{.number = seam::sequence{7}, .began = now}}};
        return std::nullopt;
    }
    void drive(base::instant) override {
        std::unique_lock held{exit_.mutex};
        bool const captive = exit_.captive == std::this_thread::get_id();
        if (captive) exit_.occupied = true;
        exit_.changed.wait(held, [&] { return exit_.open || (!captive && exit_.interrupted); });
        exit_.interrupted = false;
    }
    void interrupt() noexcept override {
        std::lock_guard const held{exit_.mutex};
        exit_.interrupted = true;
        exit_.changed.notify_all();
    }
    void shut() noexcept override {}

private:
    gate& exit_;
    bool const grants_;
};

std::shared_ptr<core::wait_queue> make_queue() {
    return std::make_shared<core::wait_queue>(
        std::make_shared<core::terms const>(core::make_terms({.name = "n"}, {})));
}

/// What user code may own: something whose end asks the loop.
struct caller_back {
    explicit caller_back(loop& of) : on{of} {}
    caller_back(caller_back const&) = delete;
    caller_back& operator=(caller_back const&) = delete;
    ~caller_back() { (void)on.counters(); }
    loop& on;
};

/// Has a job run when its call is complete, as an operation that ends by callback does.
struct posting final : core::completion {
    posting(loop& of, std::atomic<bool>& note) : on{of}, ran{note} {}
    void completed() noexcept override {
        on.post([this, owned = std::make_shared<caller_back>(on)] { ran = true; });
    }
    loop& on;
    std::atomic<bool>& ran;
    core::acquire_call call{make_queue(), *this};
};

// Nobody takes the job any more. It must not end under the loop's mutex, which what it owns may want.
TEST(loop_close, what_is_begun_afterwards_ends_without_the_lock) {
    struct world {
        gate exit{};
        std::atomic<bool> ran{false};
        loop on{[this](seam::event_sink&) { return std::make_unique<stubborn_store>(exit); },
                core::engine::settings{}, [](log_level, std::string const&) {}};
        posting call{on, ran};
        std::promise<void> end{};
    };
    auto const shared = std::make_shared<world>();
    shared->on.close(0s);
    auto ended = shared->end.get_future();
    std::thread{[shared] {  // which would wait for itself
        shared->on.begin(shared->call.call, std::chrono::nanoseconds::max());
        shared->end.set_value();
    }}
        .detach();
    ASSERT_EQ(ended.wait_for(20s), std::future_status::ready) << "a deadlock";
    EXPECT_TRUE(shared->ran);
    EXPECT_EQ(shared->call.call.outcome, core::verdict::failed);
}

TEST(loop_close, a_release_that_is_under_way_is_told_as_unknown) {
    struct ended final : core::completion {
        void completed() noexcept override { ++completions; }
        core::release_call call{*this};
        int completions{0};
    } end;
    gate exit;
    loop on{[&](seam::event_sink&) { return std::make_unique<stubborn_store>(exit, true); },
            core::engine::settings{}, [](log_level, std::string const&) {}};
    waiter self{on};
    core::acquire_call call{make_queue(), self};
    on.acquire(call, self, std::chrono::nanoseconds::max(), {});
    ASSERT_EQ(call.outcome, core::verdict::granted);
    on.begin_release(call.held, end.call);
    on.close(0s);
    EXPECT_EQ(end.completions, 1);
    EXPECT_EQ(end.call.outcome, release_outcome::unknown);
}

TEST(loop_close, takes_its_patience_once) {
    gate exit;
    auto on = std::make_unique<loop>(
        [&](seam::event_sink&) { return std::make_unique<stubborn_store>(exit); },
        core::engine::settings{}, [](log_level, std::string const&) {});
    std::jthread const caller{[&] {
        {
            std::lock_guard const held{exit.mutex};
            exit.captive = std::this_thread::get_id();
        }
        waiter self{*on};
        core::acquire_call call{make_queue(), self};
        on->acquire(call, self, std::chrono::nanoseconds::max(), {});
        EXPECT_EQ(call.outcome, core::verdict::failed);
    }};
    ASSERT_TRUE(support::eventually([&] {
        std::lock_guard const held{exit.mutex};
        return exit.occupied;
    }));
    support::stopwatch const since;
    on->close(4s);
    EXPECT_LT(since.elapsed(), 7s) << "four for the claims and one for whoever is inside";
    std::lock_guard const held{exit.mutex};
    exit.open = true;
    exit.changed.notify_all();
}

}  // namespace
}  // namespace holdfast::runtime
