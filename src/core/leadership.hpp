// Leadership: who leads an election, and the news of it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <holdfast/election.hpp>

#include "core/task.hpp"
#include "seam/reply.hpp"

namespace holdfast::core {

/// The leader as a listing of the election's name shows it.
[[nodiscard]] std::optional<leader_info> leader_in(seam::page const& page);

/// Tells `hear`, on the notifier thread, who leads: at once, and after every change, in order, until it is
/// stopped. A store that cannot be asked is asked again later.
task observe_leader(task_context& on, std::string name,
                    std::function<void(std::optional<leader_info> const&)> hear);

}  // namespace holdfast::core
