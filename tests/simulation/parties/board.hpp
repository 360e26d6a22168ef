// What the parties of one run share outside the store, as files or a database would be.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "simulation/timeline.hpp"

namespace holdfast::simulation {

/// A bounded buffer. Whoever changes it has its mutex, or believes so.
struct bounded_buffer {
    std::size_t capacity{1};
    std::deque<std::uint64_t> items{};
    std::uint64_t made{0};
    moment changed{0};
};

struct parties_board {
    std::uint64_t latch_round{0};  ///< the last latch that anybody has begun to use
    bool latch_was_reset{false};   ///< any of them: who should count it down again may be dead
    std::map<std::string, bounded_buffer> buffers{};
};

}  // namespace holdfast::simulation
