// What the tests with real servers and real faults share.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/contention.hpp"
#include "support/eventually.hpp"
#include "support/failure.hpp"
#include "support/redis_server.hpp"

namespace holdfast::redis_faults {

using namespace std::chrono_literals;
using support::all_at_once;
using support::eventually;
using support::redis_server;
using support::rising_tokens;
using support::room;
using support::seed_of_run;
using support::stopwatch;
using support::throughout;

/// Whether nothing is held or waited for, and what is remembered ends by itself, the mark of the
/// tokens excepted. A hold that nobody owns ends only with its lease: let leases be longer than
/// `bound`.
[[nodiscard]] inline bool is_empty(redis_server const& server, std::chrono::milliseconds bound) {
    client reader{server.url()};
    bool const out = eventually([&] { return reader.locks().empty(); }, bound);
    EXPECT_TRUE(out) << "left behind:\n" << server.ask({"KEYS", "*"});
    std::istringstream keys{server.ask({"KEYS", "*"})};
    for (std::string key; std::getline(keys, key);)
        EXPECT_TRUE(key == "holdfast:mark" || server.ask({"PTTL", key}) != "-1") << key;
    return out;
}

/// How often the server ran each command, in small letters, since the last CONFIG RESETSTAT.
[[nodiscard]] inline std::map<std::string, std::uint64_t> commands_of(redis_server const& server) {
    std::map<std::string, std::uint64_t> out;
    std::istringstream lines{server.ask({"INFO", "commandstats"})};
    constexpr std::string_view head = "cmdstat_";
    constexpr std::string_view calls = ":calls=";
    for (std::string line; std::getline(lines, line);) {
        auto const at = line.find(calls);
        if (!line.starts_with(head) || at == std::string::npos) continue;
        out[line.substr(head.size(), at - head.size())] =
            std::stoull(line.substr(at + calls.size()));
    }
    return out;
}

}  // namespace holdfast::redis_faults
