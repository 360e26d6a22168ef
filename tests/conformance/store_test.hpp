// The fixture of all suites: a fresh store of each kind for every test.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "conformance/context.hpp"
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

class store_test : public testing::TestWithParam<store_entry> {
protected:
    [[nodiscard]] context& store() const { return *context_; }

    [[nodiscard]] client connect(client_options options = {}) const {
        return client{store().url(), std::move(options)};
    }

    /// For a row that needs an outage: false, after asserting that the store has none to offer.
    [[nodiscard]] bool can_fall_silent() const {
        if (store().can().outage) return true;
        EXPECT_EQ(failure_of([&] { store().silence(); }), errc::unsupported);
        return false;
    }

    /// For a row that needs other processes, in the same way.
    [[nodiscard]] bool can_meet_processes() const {
        if (store().can().processes) return true;
        EXPECT_EQ(failure_of([&] { store().kill_holder("name", 2s); }), errc::unsupported);
        return false;
    }

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

[[nodiscard]] inline std::string store_name(testing::TestParamInfo<store_entry> const& info) {
    return info.param.name;
}

}  // namespace holdfast::conformance

/// Runs a suite over every store.
#define HOLDFAST_OVER_ALL_STORES(suite) \
    INSTANTIATE_TEST_SUITE_P(stores, suite, testing::ValuesIn(stores()), store_name)
