// Calls of a driver that have no outcome yet.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>

#include "stores/compare/driver.hpp"
#include "stores/compare/timepiece.hpp"

namespace holdfast::stores::compare {

/// Thread-safety: none; it belongs to its machine.
class pending_calls {
public:
    using continuation = std::function<void(outcome&&)>;

    explicit pending_calls(timepiece& time) : time_{time} {}

    [[nodiscard]] ticket add(continuation then) {
        auto const made = ticket{++last_};
        open_.emplace(made, call{std::move(then), time_.boot()});
        return made;
    }

    /// Goes on with what waits for it; a second outcome of one call is not looked at. Whatever came of it, its time was
    /// read after it was asked for, and replies tell the last one.
    void complete(ticket which, outcome&& what, reading when) {
        auto const found = open_.extract(which);
        if (found.empty()) return;
        bool const answered =
            !std::holds_alternative<rejected>(what) && !std::holds_alternative<unknown>(what);
        if (answered) time_.note(when, found.mapped().asked);
        found.mapped().then(std::move(what));
    }

private:
    struct call {
        continuation then;
        base::instant asked{};
    };

    timepiece& time_;
    std::uint64_t last_{0};
    std::unordered_map<ticket, call> open_;
};

}  // namespace holdfast::stores::compare
