// How requests reach the store: by one thread at a time, and under the mutex only where nothing blocks.
#include "runtime/sender.hpp"

#include <functional>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "core/engine_visit.hpp"

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

/// Answers every greeting on the spot, after having called `meanwhile`.
class answering_store final : public seam::store {
public:
    explicit answering_store(seam::capabilities can) : can_{can} {}
    seam::capabilities abilities() const override { return can_; }
    std::optional<seam::reply> send(seam::request_id, seam::request) noexcept override {
        ++sent;
        if (meanwhile) std::exchange(meanwhile, nullptr)();
        return seam::reply{seam::store_time{1h}, seam::done{}};
    }
    void drive(base::instant) override {}
    void interrupt() noexcept override {}
    void shut() noexcept override {}

    std::function<void()> meanwhile;
    int sent{0};

private:
    seam::capabilities const can_;
};

struct greeting final : core::completion {
    void completed() noexcept override { done = true; }
    core::operation_call call{seam::hello{}, *this};
    bool done{false};
};

struct fixture {
    explicit fixture(seam::capabilities can)
        : store{can}, engine{[&] {
              core::engine::settings out;
              out.abilities = can;
              return out;
          }()} {}

    void ask(greeting& what) {
        core::engine_visit { engine } -> begin(what.call, base::boot_clock::now());
    }
    [[nodiscard]] bool mutex_is_free() {
        if (!mutex.try_lock()) return false;
        mutex.unlock();
        return true;
    }

    answering_store store;
    core::engine engine;
    base::mutex mutex;
    sender sending{store, engine};
};

TEST(sender_test, to_a_store_that_may_block_each_request_goes_without_the_mutex) {
    greeting first;
    greeting second;
    fixture on{{}};
    base::lock_guard const guard{on.mutex};
    on.ask(first);
    on.ask(second);
    EXPECT_FALSE(on.sending.send_at_once(on.mutex, base::boot_clock::now())) << "nothing is quick";
    EXPECT_EQ(on.store.sent, 0);
    bool was_free = false;
    bool had_work = true;
    on.store.meanwhile = [&] {
        was_free = on.mutex_is_free();
        had_work = on.sending.has_work();
    };
    on.sending.send_some(on.mutex);
    EXPECT_TRUE(was_free);
    EXPECT_FALSE(had_work) << "who comes meanwhile leaves it to the one that sends";
    EXPECT_TRUE(first.done);
    EXPECT_FALSE(second.done);
    EXPECT_TRUE(on.sending.has_work());
    on.sending.send_all(on.mutex);
    EXPECT_TRUE(second.done);
}

TEST(sender_test, a_caller_whose_call_is_done_sends_no_more) {
    greeting own;
    greeting other;
    fixture on{{}};
    base::lock_guard const guard{on.mutex};
    on.ask(own);
    on.ask(other);
    on.sending.send_until(on.mutex, own.done);
    EXPECT_TRUE(own.done);
    EXPECT_EQ(on.store.sent, 1);
    on.sending.stop();
    on.sending.send_all(on.mutex);
    EXPECT_EQ(on.store.sent, 1) << "nor does anybody when the loop has stopped";
}

TEST(sender_test, to_a_prompt_store_all_go_at_once_without_the_mutex) {
    greeting first;
    greeting second;
    greeting late;
    fixture on{{.prompt = true}};
    base::lock_guard const guard{on.mutex};
    on.ask(first);
    on.ask(second);
    bool was_free = false;
    on.store.meanwhile = [&] {
        was_free = on.mutex_is_free();
        on.ask(late);  // by another thread
    };
    EXPECT_TRUE(on.sending.send_at_once(on.mutex, base::boot_clock::now()));
    EXPECT_TRUE(was_free);
    EXPECT_TRUE(first.done && second.done && late.done);
    EXPECT_FALSE(on.sending.has_work());
}

TEST(sender_test, to_an_instant_store_all_go_under_the_mutex) {
    greeting first;
    greeting second;
    fixture on{{.instant = true}};
    base::lock_guard const guard{on.mutex};
    on.ask(first);
    on.ask(second);
    bool was_free = true;
    on.store.meanwhile = [&] { was_free = on.mutex_is_free(); };
    on.sending.stop();  // what must be given back at the end is given back
    EXPECT_TRUE(on.sending.send_at_once(on.mutex, base::boot_clock::now()));
    EXPECT_FALSE(was_free);
    EXPECT_TRUE(first.done && second.done);
}

}  // namespace
}  // namespace holdfast::runtime
