#include "core/engine_context.hpp"

#include <algorithm>
#include <utility>

#include "core/refusals.hpp"
#include "core/task.hpp"

namespace holdfast::core {

using std::chrono::nanoseconds;

engine_context::engine_context(engine_settings with)
    : settings{std::move(with)},
      judge{settings.judge != nullptr ? settings.judge : std::make_shared<judgement const>()},
      random{settings.seed} {}

void engine_context::send(pending_request about, seam::request request) {
    auto const id = pending.add(std::move(about));
    todo.requests.push({id, std::move(request)});
    ++counters.requests;
}

seam::lane_id engine_context::lane_of(std::string_view name) const {
    return settings.lane_of ? settings.lane_of(name) : seam::lane_id{};
}

void engine_context::schedule(timed& entry, base::instant due) {
    entry.due = due;
    if (due == base::never) {
        timers.remove(entry);
    } else {
        timers.place(entry);
    }
}

nanoseconds engine_context::jitter(nanoseconds span) {
    if (span <= nanoseconds::zero()) return nanoseconds::zero();
    return nanoseconds{random.below(static_cast<std::uint64_t>(span.count()))};
}

nanoseconds engine_context::back_off(int failures, nanoseconds cap) {
    constexpr std::chrono::milliseconds first{10};
    if (failures <= 1) return nanoseconds::zero();  // the first failure is tried again at once
    auto const doublings = std::min(failures - 2, 20);
    auto const span = std::min<nanoseconds>(cap, first * (1LL << doublings));
    return span / 2 + jitter(span / 2);
}

void engine_context::tell(recipient whom, call_event::kind what) {
    if (auto* const task = whom.task()) return task->wake();
    todo.calls.push_back({whom.caller(), what});
}

void engine_context::check_open() const {
    if (closed) closed_client().raise();
}

}  // namespace holdfast::core
