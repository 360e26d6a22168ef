// What the parts of an engine share: settings, time, timers, clocks, requests under way, and the way out.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "core/actions.hpp"
#include "core/call.hpp"
#include "core/clock_readings.hpp"
#include "core/judgement.hpp"
#include "core/metrics.hpp"
#include "core/pending_requests.hpp"
#include "core/timer_queue.hpp"
#include "seam/store.hpp"

namespace holdfast::core {

struct engine_settings {
    seam::client_id self{};
    seam::capabilities abilities{};
    std::string store{};  ///< its URL without passwords, for messages
    std::chrono::milliseconds patience{10'000};
    std::chrono::milliseconds request_timeout{3'000};
    std::uint64_t seed{0};
    /// Which lane serves a name; all are of lane 0 when it is empty.
    std::function<seam::lane_id(std::string_view)> lane_of{};
    std::shared_ptr<judgement const> judge{};  ///< the product's own when empty
};

/// Knows nothing of claims.
///
/// Thread-safety: none; it belongs to the engine.
struct engine_context {
    explicit engine_context(engine_settings with);

    /// The longest pause between two tries of what the store does not answer.
    static constexpr std::chrono::milliseconds longest_back_off{1'000};

    engine_settings const settings;
    std::shared_ptr<judgement const> const judge;
    base::random random;
    timer_queue timers;
    pending_requests pending;
    clock_readings clocks;
    actions todo;
    metrics counters;
    base::instant now{base::instant::min()};  ///< of the present event
    bool closed{false};

    /// Puts a request into the way out; what it is about comes back with its answer.
    void send(pending_request about, seam::request request);
    [[nodiscard]] seam::lane_id lane_of(std::string_view name) const;
    /// When the entry comes due; never takes it out.
    void schedule(timed& entry, base::instant due);
    [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds span);
    /// The pause after so many failures in a row.
    [[nodiscard]] std::chrono::nanoseconds back_off(int failures, std::chrono::nanoseconds cap);
    /// A call has ended.
    void completed(recipient whom) { tell(whom, call_event::kind::completed); }
    /// A hold is on offer to a call.
    void nudged(recipient whom) { tell(whom, call_event::kind::nudged); }
    /// A claim is in the store's line.
    void queued(recipient whom) { tell(whom, call_event::kind::queued); }
    /// Throws errc::closed when the client was closed.
    void check_open() const;

private:
    void tell(recipient whom, call_event::kind what);
};

}  // namespace holdfast::core
