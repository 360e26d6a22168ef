// quorum+redis: private servers that know nothing of each other, shared by the tests of one process and emptied for
// each.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/context.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance {

namespace {

using servers = std::vector<std::unique_ptr<support::redis_server>>;

/// Started when the first test needs them, and kept until the process ends.
template <std::size_t Count>
servers& all_servers() {
    static servers out = [] {
        servers made;
        for (std::size_t i = 0; i < Count; ++i)
            made.push_back(std::make_unique<support::redis_server>());
        return made;
    }();
    return out;
}

class quorum_context final : public context {
public:
    explicit quorum_context(servers& all) : servers_{all} { begin_anew(); }
    ~quorum_context() override { restore(); }

    [[nodiscard]] std::string url() const override {
        std::string out = "quorum+redis://";
        for (auto const& each : servers_)
            out += (each == servers_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
                   std::to_string(each->port());
        return out + "?max_lease=24h";
    }

    // Those that are left are fewer than a majority.
    void silence() override {
        for (std::size_t i = 0; i <= servers_.size() / 2; ++i)
            servers_[i]->stop();
    }
    void restore() override {
        for (auto const& each : servers_)
            each->resume();
    }
    // All at once, as a new quorum would be: one alone that has forgotten everything has no vote.
    void begin_anew() override {
        for (auto const& each : servers_)
            each->ask({"FLUSHALL"});
    }

private:
    servers& servers_;
};

template <std::size_t Count>
store_row row_of(std::string name) {
    return {.name = std::move(name),
            .store = "quorum",
            .lacks = {ability::line, ability::fair_order, ability::semaphores, ability::latches,
                      ability::barriers, ability::conditions, ability::elections},
            .leases = {.longest = std::chrono::hours{24}},
            .make = [] { return std::make_unique<quorum_context>(all_servers<Count>()); }};
}

registration const three{row_of<3>("quorum")};
registration const five{row_of<5>("quorum_of_five")};

}  // namespace

}  // namespace holdfast::conformance
