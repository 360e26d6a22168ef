// Who learns what has become of a call.
#pragma once

namespace holdfast::core {

struct task_call;

/// A caller outside the engine. Whoever runs the engine tells it, under the engine's lock, after the event that
/// had something to tell. Must not call the engine.
class completion {
public:
    virtual void completed() noexcept = 0;
    /// The hold is on offer to this call: its thread should come and take it.
    virtual void nudged() noexcept {}
    /// The store has the claim of this call in its line.
    virtual void queued() noexcept {}

protected:
    ~completion() = default;
};

/// Who made a call: somebody outside the engine, or a task inside it, which goes on within the same event.
class recipient {
public:
    recipient(completion& caller) noexcept : caller_{&caller} {}
    recipient(task_call& task) noexcept : task_{&task} {}

    [[nodiscard]] completion* caller() const noexcept { return caller_; }
    [[nodiscard]] task_call* task() const noexcept { return task_; }

private:
    completion* caller_{nullptr};
    task_call* task_{nullptr};
};

/// Something to be told to a caller. It must be told before the caller's thread runs on, since the call may be
/// gone after that.
struct call_event {
    enum class kind { completed, nudged, queued };

    completion* to;
    kind what;

    void tell() const noexcept {
        switch (what) {
        case kind::completed: return to->completed();
        case kind::nudged: return to->nudged();
        case kind::queued: return to->queued();
        }
    }
};

}  // namespace holdfast::core
