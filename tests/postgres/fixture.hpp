// What the tests with real PostgreSQL servers share.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "support/eventually.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::postgres_faults {

using namespace std::chrono_literals;
using support::eventually;
using support::pgbouncer;
using support::postgres_server;

inline constexpr auto password = "tr0ub4dor";

/// A client that notes all that is said.
class noting_client {
public:
    explicit noting_client(std::string const& url, std::chrono::milliseconds patience = 3s)
        : client_{url, {.patience = patience, .log = [this](log_level, std::string_view text) {
                            std::lock_guard const guard{mutex_};
                            log_.append(text).append("\n");
                        }}} {}
    ~noting_client() {
        client_.close();
        EXPECT_EQ(log().find(password), std::string::npos) << log();
        EXPECT_EQ(client_.url().find(password), std::string::npos) << client_.url();
    }
    noting_client(noting_client const&) = delete;
    noting_client& operator=(noting_client const&) = delete;

    client& operator*() { return client_; }
    [[nodiscard]] std::string log() {
        std::lock_guard const guard{mutex_};
        return log_;
    }

private:
    std::mutex mutex_;
    std::string log_;
    client client_;
};

/// The error of a call; an empty one when there is none.
inline std::system_error failure_of(std::function<void()> const& call) {
    try {
        call();
    } catch (std::system_error const& error) {
        return error;
    }
    return std::system_error{std::error_code{}};
}

/// A lock fails with this code and these words, within `bound`, and without the password.
inline void expect_refusal(std::string const& url, errc code, std::string const& words,
                           std::chrono::milliseconds bound = 10s) {
    noting_client mine{url, 3s};
    support::stopwatch const since;
    auto const found = failure_of([&] { mutex{*mine, "q"}.lock(); });
    std::string const text = found.what();
    EXPECT_EQ(found.code(), code) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(text.find(password), std::string::npos) << text;
    EXPECT_LT(since.elapsed(), bound);
}

}  // namespace holdfast::postgres_faults
