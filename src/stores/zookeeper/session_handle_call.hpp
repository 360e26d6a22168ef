// A request that the library has, until it answers.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "stores/zookeeper/session_handle.hpp"

namespace holdfast::stores::zookeeper {

inline constexpr std::size_t longest_path = 2048;

/// Answers what never left.
inline void refuse(request& what, int code = ZCONNECTIONLOSS) {
    answer out{.code = code, .sent = false};
    if (what.then) what.then(out);
}

struct session_handle::call {
    session_handle* home;
    std::function<void(answer&)> then;
    answer out{};
    std::vector<zoo_op_result_t> results{};
    std::vector<Stat> stats{};
    std::vector<std::array<char, longest_path>> made{};
};

}  // namespace holdfast::stores::zookeeper
