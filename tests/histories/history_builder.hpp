// history_builder: histories made by hand, to see what the checker finds in them.
#pragma once

#include <string_view>
#include <utility>

#include "histories/history.hpp"

namespace holdfast::histories {

/// Times are in milliseconds from the beginning.
class history_builder {
public:
    /// The last event that was added, to be completed.
    event& add(kind what, double before, double after, std::string_view name = {}) {
        auto& out = history_.events.emplace_back();
        out.kind = what;
        out.before = at(before);
        out.after = after == 0 ? 0 : at(after);
        out.worker = 0;
        out.party = 0;
        out.set_name(name);
        return out;
    }

    /// A hold that was asked for, granted, believed in until the end, and given back.
    void hold(std::uint64_t call, std::string_view name, std::uint64_t token, double asked,
              double granted, double until, mode how = mode::exclusive, std::int64_t permits = 1) {
        of_call(add(kind::asked, asked, 0, name), call, 0, how);
        of_call(add(kind::granted, asked, granted, name), call, token, how).number = permits;
        of_call(add(kind::believed, until - 0.2, until - 0.1, name), call, token, how);
        of_call(add(kind::releasing, until, 0, name), call, token, how);
        of_call(add(kind::released, until, until + 1, name), call, token, how).outcome =
            outcome::released;
    }

    event& of_call(event& one, std::uint64_t call, std::uint64_t token,
                   mode how = mode::exclusive) {
        one.call = call;
        one.token = token;
        one.mode = how;
        return one;
    }

    /// A use of the register of `name`.
    event& use(kind what, double when, std::string_view name, std::uint64_t call,
               std::int64_t value, std::int64_t from = 0) {
        auto& out = of_call(add(what, when, when + 0.01, name), call, 0);
        out.number = value;
        out.second_number = from;
        out.serial = serial_++;
        return out;
    }

    [[nodiscard]] history done() {
        history_.sort();
        return std::exchange(history_, {});
    }

    [[nodiscard]] static instant at(double milliseconds) {
        return static_cast<instant>((1000 + milliseconds) * static_cast<double>(millisecond));
    }

private:
    history history_;
    std::uint64_t serial_{0};
};

}  // namespace holdfast::histories
