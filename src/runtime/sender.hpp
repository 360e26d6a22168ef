// The sending: carries what the engine wants sent to the store, and its answer back to the engine.
#pragma once

#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "core/engine.hpp"
#include "seam/store.hpp"

namespace holdfast::runtime {

/// One thread sends at a time; whoever comes meanwhile leaves its requests to that one. How much it does, and
/// whether it may give up the mutex, follows from what the store can do: see seam::capabilities.
///
/// Thread-safety: everything, and the engine, is guarded by the loop's mutex. Functions that give it up while
/// they send take it as `held`.
class sender {
public:
    sender(seam::store& store, core::engine& engine);

    /// Whether requests wait, and nobody is at it.
    [[nodiscard]] bool has_work() const noexcept {
        return !sending_ && !engine_.todo().requests.empty();
    }
    [[nodiscard]] bool is_instant() const noexcept { return instant_; }
    /// Whether `send_at_once` sends all there is.
    [[nodiscard]] bool never_blocks() const noexcept { return instant_ || prompt_; }

    /// One request; all there are where that costs no more.
    void send_some(base::mutex& held) HOLDFAST_REQUIRES(held);
    /// What is there, but no more once `done` is true: a caller does not wait for requests of others.
    void send_until(base::mutex& held, bool const& done) HOLDFAST_REQUIRES(held);
    /// What is there, until the loop stops.
    void send_all(base::mutex& held) HOLDFAST_REQUIRES(held) { send_until(held, stopped_); }
    /// What can be sent without delay. False when requests are left that another thread must send.
    [[nodiscard]] bool send_at_once(base::mutex& held, base::instant now) HOLDFAST_REQUIRES(held);
    /// To an instant store, without giving up the mutex.
    void send_instantly(base::instant now);

    /// From now on only an instant store is sent to.
    void stop() noexcept { stopped_ = true; }

private:
    void send_one(base::mutex& held) HOLDFAST_REQUIRES(held);
    void send_batches(base::mutex& held) HOLDFAST_REQUIRES(held);

    seam::store& store_;
    core::engine& engine_;
    bool const instant_;
    bool const prompt_;
    bool sending_{false};  ///< somebody is at it, and `batch_` is that thread's
    bool stopped_{false};
    std::vector<core::engine::outgoing> batch_;
};

}  // namespace holdfast::runtime
