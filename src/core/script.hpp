// A script: one operation of a synchronizer, written as a coroutine over the engine.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <boost/intrusive/list.hpp>

#include "core/call.hpp"
#include "core/timed.hpp"

namespace holdfast::core {

class engine;
class stage;

/// The coroutine itself; movable only, destroys its frame.
class [[nodiscard]] script {
public:
    struct promise_type {
        std::exception_ptr error{};

        script get_return_object() noexcept { return script{handle::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }
    };
    using handle = std::coroutine_handle<promise_type>;

    script() noexcept = default;
    script(script&& other) noexcept : handle_{std::exchange(other.handle_, {})} {}
    script& operator=(script&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~script() {
        if (handle_) handle_.destroy();
    }

    void resume() const { handle_.resume(); }
    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    [[nodiscard]] std::exception_ptr error() const noexcept { return handle_.promise().error; }

private:
    explicit script(handle its) noexcept : handle_{its} {}

    handle handle_{};
};

/// Thrown into a script whose caller has withdrawn. What it leaves behind it hands to a script that
/// nobody waits for.
struct script_stopped {};

/// What a suspended script waits for. Lives in the script's frame.
class script_wait {
public:
    /// Whether the script may go on.
    [[nodiscard]] virtual bool over(base::instant now) const = 0;

protected:
    ~script_wait() = default;
};

/// One run of a script. Lives with the caller until it is completed, as does what the script was
/// given by reference.
struct script_call final : timed, completion, boost::intrusive::list_base_hook<> {
    using body = std::function<script(stage&)>;

    script_call(body its, completion& whom);
    ~script_call();

    // Of the calls that the script makes.
    void completed() noexcept override;
    void queued() noexcept override { completed(); }

    body begin;
    completion* to;
    base::instant deadline{base::never};

    bool done{false};
    bool stopped{false};         ///< ended because its caller withdrew
    std::exception_ptr error{};  ///< why it failed; null when it did not

    // --- the engine's ---
    engine* on{nullptr};
    std::unique_ptr<stage> its_stage{};
    script running{};
    script_wait const* waits_for{nullptr};
    bool stopping{false};
    bool cleans_up{false};  ///< nobody waits for it, and it goes on while the client closes
    bool woken{false};      ///< stands in the engine's list of scripts to look at
};

}  // namespace holdfast::core
