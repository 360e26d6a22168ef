// quorum+…: private servers that know nothing of each other, shared by the tests of one process and emptied for each.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/context.hpp"

namespace holdfast::conformance {

/// `Kind` has a `server`, makes one (`make`), empties one (`empty`), and says how its URLs begin (`scheme`, with a user where
/// one is needed) and go on (`database`), and which option gives a test tables of its own (`place`): a client that is about
/// to end would take dropped ones for a loss of data, and have the members sit out.
template <class Kind>
class quorum_context final : public context {
public:
    using servers = std::vector<std::unique_ptr<typename Kind::server>>;

    explicit quorum_context(servers& all) : servers_{all} { begin_anew(); }
    ~quorum_context() override { restore(); }

    [[nodiscard]] std::string url() const override {
        std::string out = Kind::scheme;
        for (auto const& each : servers_)
            out += (each == servers_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
                   std::to_string(each->port());
        return out + Kind::database + "?max_lease=24h" + Kind::place(turn_);
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
        static unsigned turns = 0;
        turn_ = ++turns;
        for (auto const& each : servers_)
            Kind::empty(*each, turn_);
    }

private:
    servers& servers_;
    unsigned turn_{0};
};

/// Started when the first test needs them, and kept until the process ends.
template <class Kind, std::size_t Count>
typename quorum_context<Kind>::servers& quorum_servers() {
    static auto out = [] {
        typename quorum_context<Kind>::servers made;
        for (std::size_t i = 0; i < Count; ++i)
            made.push_back(Kind::make());
        return made;
    }();
    return out;
}

template <class Kind, std::size_t Count>
store_row quorum_row(std::string name) {
    return {.name = std::move(name),
            .store = "quorum",
            .lacks = {ability::line, ability::fair_order, ability::semaphores, ability::latches,
                      ability::barriers, ability::conditions, ability::elections},
            .leases = {.longest = std::chrono::hours{24}},
            .make = [] {
                return std::make_unique<quorum_context<Kind>>(quorum_servers<Kind, Count>());
            }};
}

}  // namespace holdfast::conformance
