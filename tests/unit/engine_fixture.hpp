// One engine and one store, with the test as their driver: it sees every request and answers when and
// how it likes.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine_visit.hpp"
#include "stores/memory/shared_state.hpp"

namespace holdfast::core {

using namespace std::chrono_literals;

/// A call that counts what it is told.
struct waiting final : completion {
    explicit waiting(std::shared_ptr<wait_queue> where) : call{std::move(where), *this} {}
    void completed() noexcept override { ++completions; }
    void nudged() noexcept override { ++nudges; }
    acquire_call call;
    int completions{0};
    int nudges{0};
};

struct releasing final : completion {
    void completed() noexcept override { ++completions; }
    release_call call{*this};
    int completions{0};
};

struct asking final : completion {
    explicit asking(seam::request what) : call{std::move(what), *this} {}
    void completed() noexcept override { ++completions; }
    operation_call call;
    int completions{0};
};

class engine_test : public ::testing::Test {
protected:
    engine_test() { make_engine({}); }
    ~engine_test() override { engine->close(now); }

    /// The engine, visited anew by every `->`: callers are told at the end of each.
    class visited_engine {
    public:
        void emplace(core::engine::settings with) { engine_.emplace(std::move(with)); }
        void reset() { engine_.reset(); }
        [[nodiscard]] engine_visit operator->() { return engine_visit{*engine_}; }

    private:
        std::optional<core::engine> engine_;
    };

    /// Another one, for a store with other abilities.
    void make_engine(core::engine::settings with) {
        with.self = seam::client_id{1};
        with.seed = 1;
        engine.emplace(std::move(with));
    }

    std::shared_ptr<wait_queue> queue_for(lock_options const& options = {},
                                          std::string name = "n") {
        return std::make_shared<wait_queue>(
            std::make_shared<terms const>(make_terms({.name = std::move(name)}, options)));
    }

    /// The requests that the engine wants to send now, and no longer after this.
    std::vector<core::engine::outgoing> sent() {
        std::vector<core::engine::outgoing> out;
        engine->todo().requests.pop_all(out);
        return out;
    }
    /// How many of one kind the engine wants to send. It still does after this.
    template <class Verb>
    std::size_t wanted() {
        auto const all = sent();
        for (auto const& out : all)
            engine->todo().requests.push(out);
        return static_cast<std::size_t>(
            std::ranges::count_if(all, [](core::engine::outgoing const& out) {
                return std::holds_alternative<Verb>(out.what);
            }));
    }

    seam::reply carry_out(core::engine::outgoing const& out) {
        std::vector<stores::lease::directed_notice> notices;
        auto const store_now = seam::store_time{
            std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch())};
        auto answer = store.handle(self, out.what, store_now, notices);
        for (auto& one : notices)
            notices_.push_back(std::move(one.what));
        return answer;
    }
    /// As a server that was started anew without its data, with a mark ahead of the one before.
    void lose_data() {
        std::destroy_at(&store);
        std::construct_at(&store, 1'000'000U);
    }
    /// Lets the store answer everything, also what the answers lead to.
    void settle_down() {
        for (auto requests = sent(); !requests.empty() || !notices_.empty(); requests = sent()) {
            for (auto const& out : requests)
                engine->on_reply(out.id, carry_out(out), now);
            for (auto const& notice : std::exchange(notices_, {}))
                engine->on_notice(notice, now);
        }
    }
    /// What the store has told unasked, and the engine has not heard yet.
    std::vector<seam::notice> take_notices() { return std::exchange(notices_, {}); }
    void fail_all(errc why = errc::store_unavailable) {
        for (auto const& out : sent())
            engine->on_reply(out.id, {{}, seam::failure{{why, "no"}}}, now);
    }
    /// Time passes, with the engine's timers running when they are due.
    void pass(std::chrono::nanoseconds span, bool answer = true) {
        auto const end = now + span;
        while (engine->next_due() <= end) {
            now = std::max(now, engine->next_due());
            engine->on_time(now);
            if (answer) settle_down();
        }
        now = end;
    }
    std::shared_ptr<hold_state> take(std::shared_ptr<wait_queue> const& where) {
        waiting one{where};
        engine->begin(one.call, now);
        settle_down();
        EXPECT_EQ(one.call.outcome, verdict::granted);
        return one.call.held;
    }

    base::instant now{100h};
    visited_engine engine;
    stores::memory::machine store{1};
    std::shared_ptr<seam::identity const> self =
        std::make_shared<seam::identity const>(seam::identity{seam::client_id{1}, "host", 1, ""});

private:
    std::vector<seam::notice> notices_;
};

template <class Verb>
[[nodiscard]] std::size_t count_of(std::vector<engine::outgoing> const& requests) {
    std::size_t count = 0;
    for (auto const& out : requests)
        count += std::holds_alternative<Verb>(out.what) ? 1U : 0U;
    return count;
}

}  // namespace holdfast::core
