// Runs the tasks of one client: each goes on when what it waits for is over.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "base/clock.hpp"
#include "core/engine_context.hpp"
#include "core/task.hpp"

namespace holdfast::core {

struct engine_parts;

/// A task is only marked as ready by what happens; it runs when the event is over, in `run_ready`, so
/// that no task runs inside another function of the engine.
///
/// Thread-safety: none; it belongs to the engine. Calls belong to their callers and must stay until they
/// are completed.
class task_scheduler {
public:
    explicit task_scheduler(engine_context& shared) noexcept : shared_{shared} {}
    ~task_scheduler();
    task_scheduler(task_scheduler const&) = delete;
    task_scheduler& operator=(task_scheduler const&) = delete;

    /// `on` is what the task works with.
    void begin(task_call& call, engine_parts& on);
    /// Begins a task that nobody waits for, and which goes on while the client closes.
    void spawn(task_call::body what, engine_parts& on);
    /// Ends the task in `task_stopped`, when it runs next.
    void stop(task_call& call) noexcept;
    /// The task may be able to go on.
    void wake(task_call& call) noexcept;
    /// Its timer has come due.
    void on_timer(task_call& call) noexcept;

    void run_ready(base::instant now);

    /// Every task but those that clean up ends in `errc::closed`.
    void close() noexcept;
    /// Whether nothing is left that cleans up.
    [[nodiscard]] bool idle() const noexcept { return spawned_.empty(); }
    /// How many tasks have failed since the last call.
    [[nodiscard]] std::size_t take_failures() noexcept;

private:
    void end(task_call& call);

    engine_context& shared_;
    boost::intrusive::list<task_call> tasks_;
    std::vector<task_call*> ready_;  ///< to be looked at when the event is over
    std::vector<std::unique_ptr<task_call>> spawned_;
    std::size_t failures_{0};
    bool closed_{false};
};

}  // namespace holdfast::core
