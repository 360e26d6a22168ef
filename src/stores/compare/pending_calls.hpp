// Calls of a driver that have no outcome yet.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>

#include "stores/compare/driver.hpp"

namespace holdfast::stores::compare {

/// Thread-safety: none; it belongs to its machine.
class pending_calls {
public:
    using continuation = std::function<void(outcome&&, reading)>;

    [[nodiscard]] ticket add(continuation then) {
        auto const made = ticket{++last_};
        open_.emplace(made, std::move(then));
        return made;
    }

    /// Goes on with what waits for it; a second outcome of one call is not looked at.
    void complete(ticket which, outcome&& what, reading when) {
        auto call = open_.extract(which);
        if (!call.empty()) call.mapped()(std::move(what), when);
    }

private:
    std::uint64_t last_{0};
    std::unordered_map<ticket, continuation> open_;
};

}  // namespace holdfast::stores::compare
