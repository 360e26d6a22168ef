// A look at a name: the ranges that answer a query, and the view that their answers make.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stores/compare/view.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/wire.hpp"

namespace holdfast::stores::etcd {

/// What is asked for: always the head and the line first, then claims, then sessions.
inline constexpr std::size_t ranges_of_a_name = 2;
[[nodiscard]] std::vector<wire::RangeRequest> ranges_for(compare::name_query const& what,
                                                         keys const& at);

/// The session's own record: whether it is there, and what it says.
[[nodiscard]] wire::RangeRequest range_for(compare::session_id id, bool body, keys const& at);

struct looked {
    compare::view found;
    /// Whose bodies were asked for and could not be read together with the rest, since only that said who
    /// they are. A second look finds them.
    std::vector<compare::session_id> unknown;
};

/// From the answers to `ranges_for`, in order. `alive`: lives for certain.
[[nodiscard]] looked view_of(compare::name_query const& what,
                             std::span<wire::RangeResponse const* const> answers, keys const& at,
                             std::optional<compare::session_id> alive = {});

/// Adds what a second look found.
void set_session(compare::view& in, compare::session_id id, wire::RangeResponse const& from);

}  // namespace holdfast::stores::etcd
