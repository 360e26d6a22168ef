// What the tests with real faults share.
#pragma once

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/contention.hpp"
#include "support/eventually.hpp"
#include "support/failure.hpp"
#include "support/proxy.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::zookeeper_tests {

using namespace std::chrono_literals;
using redis_faults::proxy;
using support::all_at_once;
using support::eventually;
using support::failure_of;
using support::stopwatch;
using support::throughout;

/// A way to a server, by another port than its own.
[[nodiscard]] inline std::string url_by(proxy const& network) {
    return "zookeeper://127.0.0.1:" + std::to_string(network.port()) + "?timeout=1s&tick=200ms";
}

}  // namespace holdfast::zookeeper_tests
