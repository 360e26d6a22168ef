#include "core/collecting.hpp"

#include <algorithm>
#include <utility>

#include "core/task_context.hpp"

namespace holdfast::core {

namespace {

constexpr std::chrono::milliseconds shortest_pause{1};
constexpr std::chrono::milliseconds longest_pause{50};
constexpr std::size_t none = SIZE_MAX;

/// The state of one collection.
struct collection {
    std::vector<std::shared_ptr<wait_queue>> queues;
    std::vector<std::shared_ptr<hold_state>> got;
    std::size_t first{none};  ///< the one to wait for
    bool answered{false};     ///< the store has said that a name is busy
    std::chrono::nanoseconds pause{shortest_pause};

    explicit collection(std::vector<std::shared_ptr<wait_queue>> all)
        : queues{std::move(all)}, got{queues.size()} {}

    [[nodiscard]] std::shared_ptr<wait_queue> fresh(std::size_t i) const {
        auto const& queue = queues[i];
        return queue->terms->sharable() ? queue : std::make_shared<wait_queue>(queue->terms);
    }
    [[nodiscard]] std::vector<std::shared_ptr<wait_queue>> missing() const {
        std::vector<std::shared_ptr<wait_queue>> out;
        for (std::size_t i = 0; i < queues.size(); ++i)
            if (got[i] == nullptr) out.push_back(fresh(i));
        return out;
    }
    /// Takes in what the tries of those missing gave; an error when one has failed.
    [[nodiscard]] base::error take(std::vector<std::unique_ptr<acquire_call>>& tries) {
        base::error failure;
        std::size_t next = 0;
        first = none;
        for (std::size_t i = 0; i < queues.size(); ++i) {
            if (got[i] != nullptr) continue;
            auto& call = *tries[next++];
            got[i] = std::move(call.held);
            note(call);
            if (call.outcome == verdict::failed && !failure) failure = call.error;
            if (got[i] == nullptr && first == none) first = i;
        }
        return failure;
    }
    void note(acquire_call const& call) {
        if (call.outcome == verdict::busy) answered = true;
    }
    /// Whether the failure only says that the last try had no time left for an answer, from a store that
    /// answers: then the time is over, and nothing is wrong.
    [[nodiscard]] bool merely_late(base::error const& failure, task_context const& on) const {
        return answered && failure.is(errc::store_unavailable) && on.now() >= on.deadline();
    }
    /// Whether none was lost while the others were asked for.
    [[nodiscard]] bool complete(base::instant now) const {
        return std::ranges::all_of(got, [&](auto const& each) {
            return each != nullptr && each->state(now) != lease_state::lost;
        });
    }
    void let_go(task_context& on) {
        for (auto& each : got)
            if (each != nullptr) on.give_back(std::exchange(each, nullptr));
    }
};

}  // namespace

task acquire_all(task_context& on, std::vector<std::shared_ptr<wait_queue>> queues, bool wait,
                 std::vector<std::shared_ptr<hold_state>>& held) {
    held.clear();
    collection all{std::move(queues)};
    std::exception_ptr stopped;
    try {
        for (;;) {
            if (all.first != none) {
                std::vector<std::shared_ptr<wait_queue>> one{all.fresh(all.first)};
                auto waited = co_await on.acquire(std::move(one), true);
                auto& call = *waited.front();
                all.note(call);
                if (call.outcome == verdict::failed && !all.merely_late(call.error, on))
                    call.error.raise();
                if (call.held == nullptr) co_return;
                all.got[all.first] = std::move(call.held);
            }
            auto missing = all.missing();
            auto tries = co_await on.acquire(std::move(missing), false);
            if (auto const failure = all.take(tries)) {
                all.let_go(on);
                if (all.merely_late(failure, on)) co_return;
                failure.raise();
            }
            if (all.complete(on.now())) break;
            all.let_go(on);
            if (!wait) co_return;
            auto const span = all.pause / 2 + on.jitter(all.pause / 2);
            all.pause = std::min<std::chrono::nanoseconds>(2 * all.pause, longest_pause);
            auto const in_time = co_await on.pause(span);
            if (!in_time) co_return;
        }
    } catch (task_stopped const&) {
        stopped = std::current_exception();
    }
    if (stopped != nullptr) {
        all.let_go(on);
        std::rethrow_exception(stopped);
    }
    held = std::move(all.got);
}

}  // namespace holdfast::core
