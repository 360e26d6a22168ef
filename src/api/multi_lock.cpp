#include "api/multi_lock.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <holdfast/multi_lock.hpp>

#include "api/hold.hpp"
#include "base/error.hpp"
#include "core/collecting.hpp"
#include "core/task_context.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

wanted_locks::wanted_locks(handle_span handles) {
    std::vector<std::string_view> names;
    for (auto const& each : handles) {
        if (each->client() != handles.front()->client())
            base::raise(errc::bad_option, "lock_all needs locks of one client");
        names.push_back(each->name());
    }
    std::ranges::sort(names);
    if (auto const twice = std::ranges::adjacent_find(names); twice != names.end())
        base::raise(errc::would_deadlock, "'" + std::string{*twice} + "' is given twice");
    handles.front()->client()->require_usable();
    for (auto const& each : handles) {
        parts_.push_back({each});
        if (auto held = each->enter_again())
            parts_.back().held = access::state(each->as_nested_lease(std::move(held)));
    }
}

std::vector<std::shared_ptr<core::wait_queue>> wanted_locks::queues() const {
    std::vector<std::shared_ptr<core::wait_queue>> out;
    for (auto const& each : parts_)
        if (each.held == nullptr) out.push_back(each.handle->queue());
    return out;
}

std::optional<lease> wanted_locks::as_lease(std::vector<std::shared_ptr<core::hold_state>> fresh) {
    auto const missing = std::ranges::count(parts_, nullptr, &part::held);
    if (static_cast<std::ptrdiff_t>(fresh.size()) != missing) return std::nullopt;
    std::vector<std::shared_ptr<hold>> holds;
    std::size_t next = 0;
    for (auto& each : parts_) {
        if (each.held == nullptr)
            each.held = access::state(each.handle->as_lease(std::move(fresh[next++])));
        holds.push_back(std::move(each.held));
    }
    if (holds.size() == 1) return detail::access::make_lease(std::move(holds.front()));
    return detail::access::make_lease(std::make_shared<group_hold>(std::move(holds)));
}

std::optional<lease> lock_all(handle_span handles, std::chrono::nanoseconds timeout,
                              std::stop_token const& stop) {
    wanted_locks wanted{handles};
    std::vector<std::shared_ptr<core::hold_state>> fresh;
    bool const wait = timeout > std::chrono::nanoseconds::zero();
    handles.front()->client()->run(
        [&](core::task_context& on) { return core::acquire_all(on, wanted.queues(), wait, fresh); },
        wait ? timeout : no_timeout, stop);
    auto out = wanted.as_lease(std::move(fresh));
    if (!out && timeout == no_timeout && !stop.stop_requested())
        base::raise(errc::timed_out, "a retry policy ended the wait");
    return out;
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
