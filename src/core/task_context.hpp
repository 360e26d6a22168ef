// The context: what a task can do and wait for.
#pragma once

#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine_parts.hpp"
#include "core/task.hpp"

namespace holdfast::core {

/// How often a task looks at what it watches even if it is told nothing: a notice is a hint, and may be lost.
inline constexpr std::chrono::seconds slow_poll{5};

/// Requests are given as named values, never as temporaries made inside a co_await: g++ 12 destroys
/// those twice. Given to every task; each of its functions that returns an awaitable ends in `task_stopped`
/// when the caller withdraws, and in `errc::closed` when the client is closed.
///
/// Thread-safety: none; tasks run inside the engine.
class task_context {
public:
    task_context(engine_parts& on, task_call& call) noexcept : parts_{on}, call_{call} {}

    class asking;
    class changing;
    class acquiring;
    class queueing;

    /// One request, resent until it is answered: at most for the client's patience, and not beyond
    /// the caller's deadline. Yields the answer; throws what goes wrong.
    template <class Request>
    [[nodiscard]] asking ask(Request&& what);
    /// The same without the caller's deadline: for what must be said after it.
    template <class Request>
    [[nodiscard]] asking ask_anyway(Request&& what);
    [[nodiscard]] asking read(seam::cell_key const& key);
    [[nodiscard]] asking read_anyway(seam::cell_key const& key);

    /// Makes sure that changes of the key are told, from before it returns; costs a request only
    /// when nobody of this client watches it yet. Ends with `engine::unwatch`.
    [[nodiscard]] asking watch(seam::cell_key const& key);
    /// A mark that rises with every change of the key that is told: read this before what may change,
    /// and after `watch`. It differs from all earlier ones when the watch was ended meanwhile.
    [[nodiscard]] std::uint64_t changes(seam::cell_key const& key) const;
    /// Waits until the mark is not `seen` any more, or a slow poll is due. False when the caller's deadline
    /// came first.
    [[nodiscard]] changing change(seam::cell_key const& key, std::uint64_t seen,
                                  std::chrono::nanoseconds poll);
    /// Waits for a while, or until the caller's deadline: then false.
    [[nodiscard]] changing pause(std::chrono::nanoseconds span);

    /// Acquires on every queue at once, and yields when all have been answered.
    [[nodiscard]] acquiring acquire(std::vector<std::shared_ptr<wait_queue>> queues, bool wait);
    /// Begins one acquire, and yields when the store has its claim in the line, or it has ended.
    [[nodiscard]] queueing queue(acquire_call& call);
    /// The rest of it: until it has ended.
    [[nodiscard]] queueing end(acquire_call& call);
    /// Ends it now; it may have been granted before.
    void give_up(acquire_call& call) { parts_.acquires.withdraw(call, now()); }
    /// A call for these three. It must have ended before it goes.
    [[nodiscard]] acquire_call call_on(std::shared_ptr<wait_queue> where) {
        return {std::move(where), call_};
    }
    void release(std::shared_ptr<hold_state> const& held) { parts_.releases.release(held, now()); }
    /// What the caller was never given: a minimum hold does not count.
    void give_back(std::shared_ptr<hold_state> const& held) {
        parts_.releases.give_back(held, now());
    }
    void consume(std::shared_ptr<hold_state> const& held) { parts_.releases.consume(held, now()); }

    /// Has `what` run on the notifier thread, when the event is over.
    void post(std::function<void()> what) { parts_.shared.todo.jobs.push_back(std::move(what)); }

    /// Begins a task that nobody waits for.
    void leave_to(task_call::body what);

    /// Whether the request that was answered last may have been sent twice: then its answer may tell
    /// of the second, and the first was carried out long before.
    [[nodiscard]] bool sent_again() const noexcept { return sent_again_; }

    [[nodiscard]] base::instant now() const noexcept;
    [[nodiscard]] base::instant deadline() const noexcept { return call_.deadline; }
    [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds span);
    /// Names one swap for ever.
    [[nodiscard]] seam::claim_id next_operation();

private:
    [[nodiscard]] asking make_asking(seam::request what, bool within_deadline);

    engine_parts& parts_;
    task_call& call_;
    bool sent_again_{false};
};

/// Shared by the awaitables.
class context_wait : public task_wait {
public:
    [[nodiscard]] bool await_ready() const noexcept { return false; }

protected:
    context_wait(engine_parts& on, task_call& call) noexcept : parts_{on}, call_{call} {}
    ~context_wait() = default;

    void suspend() noexcept { call_.waits_for = this; }
    /// Throws when the task was stopped meanwhile.
    void check_stop() const;

    engine_parts& parts_;
    task_call& call_;
};

class task_context::asking final : public context_wait {
public:
    asking(engine_parts& on, task_call& call, seam::request what, base::instant deadline);

    /// An answer that is known already.
    struct known {};
    asking(engine_parts& on, task_call& call, known);

    [[nodiscard]] bool await_ready() const noexcept { return ready_; }
    void await_suspend(std::coroutine_handle<>);
    seam::reply_body await_resume();
    [[nodiscard]] bool over(base::instant) const override { return inner_.done; }

    std::optional<seam::cell_key> confirms{};  ///< the watch that it asks for

private:
    operation_call inner_;
    base::instant began_{};
    bool ready_{false};
};

template <class Request>
task_context::asking task_context::ask(Request&& what) {
    return make_asking(std::forward<Request>(what), true);
}

template <class Request>
task_context::asking task_context::ask_anyway(Request&& what) {
    return make_asking(std::forward<Request>(what), false);
}

class task_context::changing final : public context_wait {
public:
    changing(engine_parts& on, task_call& call, std::optional<seam::cell_key> key,
             std::uint64_t seen, base::instant until);

    void await_suspend(std::coroutine_handle<>);
    bool await_resume();
    [[nodiscard]] bool over(base::instant now) const override;

private:
    std::optional<seam::cell_key> key_;
    std::uint64_t seen_;
    base::instant until_;
};

class task_context::acquiring final : public context_wait {
public:
    acquiring(engine_parts& on, task_call& call, std::vector<std::shared_ptr<wait_queue>> queues,
              bool wait);

    void await_suspend(std::coroutine_handle<>);
    /// One result for each queue, in order; throws nothing but stops: `failed` is a result.
    std::vector<std::unique_ptr<acquire_call>> await_resume();
    [[nodiscard]] bool over(base::instant) const override;

private:
    std::vector<std::unique_ptr<acquire_call>> calls_;
};

class task_context::queueing final : public context_wait {
public:
    queueing(engine_parts& on, task_call& call, acquire_call& inner, bool begins)
        : context_wait{on, call}, inner_{inner}, begins_{begins} {}

    [[nodiscard]] bool await_ready() const noexcept { return !begins_ && over({}); }
    void await_suspend(std::coroutine_handle<>);
    /// Throws when the task was stopped, and then gives back what it had; and why it failed.
    void await_resume();
    [[nodiscard]] bool over(base::instant) const override;

private:
    acquire_call& inner_;
    bool const begins_;
};

}  // namespace holdfast::core
