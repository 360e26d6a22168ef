// The fixture of all suites: a fresh store of each row for every test.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "conformance/context.hpp"
#include "conformance/probe.hpp"
#include "support/eventually.hpp"
#include "support/failure.hpp"

namespace holdfast {
inline namespace v1 {

// For GoogleTest's messages.
inline void PrintTo(lease_state state, std::ostream* out) { *out << to_string(state); }
inline void PrintTo(release_outcome outcome, std::ostream* out) { *out << to_string(outcome); }

}  // namespace v1
}  // namespace holdfast

namespace holdfast::conformance {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using support::eventually;
using support::failure_of;
using support::patience;
using support::stopwatch;
using support::throughout;
using support::words_of;

/// For calls that are to end with their time, after the store has said "busy" or "not yet": on a busy machine a first
/// answer takes a while, and without it the call ends with `store_unavailable`.
inline constexpr milliseconds time_to_answer{2500};

/// Whether `call(time)` fails, and not before its time, because the store has said "busy" or "not yet". Where the first
/// answer takes longer than that, it has twice the time.
template <class Call>
[[nodiscard]] bool ends_with_its_time(Call&& call) {
    for (milliseconds time{200};; time *= 2) {
        try {
            stopwatch const since;
            bool const got_it = static_cast<bool>(call(time));
            return !got_it && since.elapsed() >= time;
        } catch (std::system_error const& failed) {
            if (failed.code() != errc::store_unavailable || time > time_to_answer) throw;
        }
    }
}

class store_test : public testing::TestWithParam<store_row> {
protected:
    [[nodiscard]] context& store() const { return *context_; }

    [[nodiscard]] client connect(client_options options = {}) const {
        return client{store().url(), std::move(options)};
    }

    /// Whether the row can do all of `needs`. Asserts that it refuses what it cannot, so that a test
    /// that ends here has proved something.
    [[nodiscard]] bool can(abilities const& needs) const {
        for (auto const which : needs)
            if (!GetParam().can(which)) expect_refused(which, store());
        return GetParam().can_all(needs);
    }

    /// The orders that the row has; refusal of the other is asserted.
    [[nodiscard]] std::vector<ordering> orders() const {
        if (can({ability::fair_order})) return {ordering::barging, ordering::fair};
        return {ordering::barging};
    }

    /// A lease of `wanted`, or the shortest that the row takes.
    [[nodiscard]] milliseconds lease_of(milliseconds wanted) const {
        return std::max(wanted, GetParam().leases.shortest);
    }

    /// `how_many` of the client `waiting` wait for `name`. Where the store keeps a line `other` sees
    /// them there; where it does not, only their own client knows.
    [[nodiscard]] bool waits_seen_by(client& other, client& waiting, std::string_view name,
                                     std::size_t how_many) const;

private:
    std::unique_ptr<context> context_{GetParam().make()};
};

/// The entry of `name` in the client's listing; empty when there is none.
[[nodiscard]] inline lock_info listed(client& from, std::string_view name) {
    for (auto& info : from.locks(name))
        if (info.name == name) return std::move(info);
    return {};
}

[[nodiscard]] inline bool waits(client& from, std::string_view name, std::size_t how_many) {
    return eventually([&] { return listed(from, name).waiters.size() == how_many; });
}

inline bool store_test::waits_seen_by(client& other, client& waiting, std::string_view name,
                                      std::size_t how_many) const {
    return waits(GetParam().can(ability::line) ? other : waiting, name, how_many);
}

/// Nobody holds or waits for anything: also what was given back in the background.
[[nodiscard]] inline bool empties(client& from) {
    return eventually([&] { return from.locks().empty(); });
}

/// Runs `call` on a thread of its own.
template <class Call>
[[nodiscard]] auto elsewhere(Call call) {
    return std::async(std::launch::async, std::move(call));
}

template <class Future>
[[nodiscard]] bool ready(Future const& it, milliseconds bound = patience) {
    return it.wait_for(bound) == std::future_status::ready;
}

[[nodiscard]] inline std::string row_name(testing::TestParamInfo<store_row> const& info) {
    return info.param.name;
}

}  // namespace holdfast::conformance

/// Runs a suite over every row that has all of the abilities behind its name; without any, over every
/// row. The roster has the same needs, and abilities_test asserts what the other rows refuse.
#define HOLDFAST_OVER_ROWS_WITH(suite, ...) \
    INSTANTIATE_TEST_SUITE_P(stores, suite, testing::ValuesIn(rows_with({__VA_ARGS__})), row_name)
#define HOLDFAST_OVER_ALL_ROWS(suite) HOLDFAST_OVER_ROWS_WITH(suite, )
