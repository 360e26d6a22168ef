// What the tests with real faults share that go through the public API.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/contention.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"
#include "support/proxy.hpp"

namespace holdfast::etcd_tests {

using namespace std::chrono_literals;
using redis_faults::proxy;
using support::all_at_once;
using support::eventually;
using support::stopwatch;
using support::throughout;

/// A way to a member, by another port than its own.
[[nodiscard]] inline std::string url_by(proxy const& network) {
    return "etcd://127.0.0.1:" + std::to_string(network.port()) + "?timeout=1s";
}

/// Whether no key is left, once all clients have gone. A hold that nobody owns ends only with its lease: let leases be
/// longer than `bound`.
[[nodiscard]] inline bool is_empty(support::etcd_server const& server,
                                   std::chrono::milliseconds bound) {
    bool const out = eventually([&] { return server.count_keys() == 0; }, bound);
    EXPECT_TRUE(out) << "left behind:\n" << server.control({"get", "", "--prefix", "--keys-only"});
    return out;
}

}  // namespace holdfast::etcd_tests
