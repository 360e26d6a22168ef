// Clients of a Redis store, driven through the seam without the core.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/redis_server.hpp"
#include "unit/store_peer.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_redis_v1();

namespace holdfast::test {

class peer final : public store_peer {
public:
    explicit peer(std::string const& url) : store_peer{*holdfast_store_redis_v1(), url} {}

    /// Drives until the server has its subscription.
    [[nodiscard]] bool listens(support::redis_server const& at) {
        auto const end = base::boot_clock::now() + long_enough;
        auto const channel = "holdfast:client:" + base::hex(static_cast<std::uint64_t>(id()));
        while (at.ask({"PUBSUB", "NUMSUB", channel}) != channel + "\n1") {
            if (base::boot_clock::now() >= end) return false;
            store().drive(base::boot_clock::now() + 10ms);
        }
        return true;
    }
};

/// One server for all tests of a program; each test begins with an empty one.
class redis_test : public testing::Test {
protected:
    redis_test() { server().ask({"FLUSHALL"}); }

    [[nodiscard]] static support::redis_server& server() {
        static support::redis_server it;
        return it;
    }

    static void expect(base::error const& error, errc why, std::string_view cure) {
        EXPECT_TRUE(error.is(why)) << error.code << " " << error.text;
        EXPECT_NE(error.text.find(cure), std::string::npos) << error.text;
    }
};

}  // namespace holdfast::test
