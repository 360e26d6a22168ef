// checker: whether a history keeps the promises.
#pragma once

#include <string>
#include <vector>

#include "histories/history.hpp"

namespace holdfast::histories {

/// A promise that was broken, where and when.
struct violation {
    std::string promise{};  ///< one of a few words, such as "exclusion"
    std::string text{};
    std::string name{};
    instant at{0};
    std::uint64_t call{0};  ///< those concerned, 0 for none
    std::uint64_t other_call{0};
    int worker{-1};  ///< the party concerned, where it is about one
    int party{-1};
};

/// Everything that is wrong, in the order of time.
[[nodiscard]] std::vector<violation> check(history const& all);

/// What happened around a violation, for people.
[[nodiscard]] std::string story(history const& all, violation const& about);

}  // namespace holdfast::histories
