// Real servers as the members of a quorum, which may be killed, stopped and emptied.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/holdfast.hpp>

#include "quorum/member_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::quorum_faults {

using namespace std::chrono_literals;
using support::eventually;

inline constexpr auto longest_lease = 2s;

class quorum_members : public testing::TestWithParam<member_kind> {
protected:
    explicit quorum_members(std::size_t count = 3) {
        for (std::size_t i = 0; i < count; ++i)
            servers_.push_back(GetParam().make());
    }

    [[nodiscard]] member_server& server(std::size_t which) { return *servers_[which]; }
    [[nodiscard]] std::string url(std::string const& options = "?max_lease=2s") const {
        std::vector<std::uint16_t> ports;
        for (auto const& each : servers_)
            ports.push_back(each->port());
        return url_of(ports, options);
    }
    [[nodiscard]] static std::string url_of(std::vector<std::uint16_t> const& ports,
                                            std::string const& options = "?max_lease=2s",
                                            std::string const& login = GetParam().login) {
        auto out = GetParam().scheme + login;
        for (auto const& each : ports)
            out += (&each == &ports.front() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each);
        return out + GetParam().database + options;
    }
    [[nodiscard]] client connect() const { return client{url(), {.patience = 3s}}; }
    [[nodiscard]] static lock_options options() { return {.lease = 1500ms}; }

    /// Kills them, and starts them with nothing in them.
    void wipe(std::vector<std::size_t> const& these) {
        for (auto const each : these)
            server(each).kill();
        for (auto const each : these)
            server(each).start_empty();
    }

    /// A majority suffices for a grant; whoever was not asked, or too slow, is given the claim by a renewal soon.
    void await_at_all(std::string const& name) {
        for (auto const& each : servers_) {
            client member{each->url()};
            ASSERT_TRUE(eventually([&] { return !member.locks(name).empty(); }));
        }
    }

    /// Of a hold that was let go of; 0 when there was none, because a majority was busy or could not be asked.
    [[nodiscard]] static std::uint64_t token_of_try(client const& user) {
        try {
            auto const held = mutex{user, "q", options()}.try_acquire_for(0ms);
            return held ? held->token() : 0;
        } catch (std::system_error const& error) {
            EXPECT_EQ(error.code(), errc::store_unavailable) << error.what();
            return 0;
        }
    }

    std::vector<std::unique_ptr<member_server>> servers_;
};

[[nodiscard]] inline std::string name_of(testing::TestParamInfo<member_kind> const& of) {
    return of.param.name;
}

}  // namespace holdfast::quorum_faults
