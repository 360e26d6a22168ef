// Very many holds of one client, and a connection that is cut under them.
#include <algorithm>
#include <string>
#include <vector>

#include "redis/fixture.hpp"
#include "redis/unanswered.hpp"
#include "support/counts.hpp"
#include "support/proxy.hpp"

namespace holdfast::redis_faults {
namespace {

TEST(many_leases_test, survive_a_connection_that_is_cut) {
    auto const count = support::large_count(100'000U);
    auto const lease_time =
        count > 10'000 ? 30s : 6s;  // so that the server has time for all of them
    redis_server server;
    unanswered commands;
    proxy address{server.port(),
                  1,
                  {},
                  {.on_request = [&](int by, auto bytes) { commands.on_request(by, bytes); },
                   .on_reply = [&](int by, auto bytes) { commands.on_reply(by, bytes); }}};
    client mine{"redis://127.0.0.1:" + std::to_string(address.port())};
    std::vector<lease> all;
    all.reserve(count);
    for (unsigned i = 0; i < count; ++i)
        all.push_back(mutex{mine, "n" + std::to_string(i), {.lease = lease_time}}.acquire());
    server.ask({"CONFIG", "RESETSTAT"});
    auto const every = [&](auto holds) { return std::ranges::all_of(all, holds); };
    // For longer than a lease: renewals are under way each time.
    stopwatch const since;
    int cuts = 0;
    EXPECT_TRUE(throughout(lease_time + 1s, [&] {
        if (since.elapsed() > cuts * 1s) {
            ++cuts;
            address.lead_to(server.port());  // the same one, by fresh connections
        }
        return every([](lease const& held) { return held.held(); });
    }));
    EXPECT_GT(address.connections(), 5) << "it was cut";
    EXPECT_TRUE(eventually([&] {
        return every([&](lease const& held) { return held.state() == lease_state::held; });
    }));
    // Not all that falls due at once when a connection is there again. Eight batches of 512 are under way; where answers
    // stay out, others take their places over, twice in the second between two cuts.
    std::cout << commands.most() << " commands unanswered at most" << std::endl;
    EXPECT_LE(commands.most(), 3 * 8 * 512);
    EXPECT_GT(commands.most(), 1) << "nothing was counted";
    // Renewed some three times, and asked for once more after each cut at most.
    auto const calls = commands_of(server)["evalsha"];
    EXPECT_GT(calls, count);
    EXPECT_LT(calls, count * (static_cast<unsigned>(address.connections()) + 4));
}

}  // namespace
}  // namespace holdfast::redis_faults
