// Clients of a quorum, its members and the network between them, on simulated time from a seed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stores/memory/shared_state.hpp"
#include "stores/quorum/machine.hpp"

namespace holdfast::quorum_tests {

using namespace std::chrono_literals;
using nanos = std::chrono::nanoseconds;

/// What a run is made of. Everything else is drawn from the seed.
struct plan {
    std::uint64_t seed{1};
    std::size_t members{3};
    std::size_t clients{4};
    std::size_t names{2};
    double drift{0.0045};  ///< rates of all clocks differ from the true one by no more
    bool faults{true};
    bool wipes{true};       ///< among them, members that lose their data
    bool restarts{true};    ///< and members that begin anew with it
    nanos slow_answers{0};  ///< answers may take so much longer than requests
    stores::quorum::judgement const* judge{nullptr};  ///< the product's own, when there is none
    bool any_ballot{false};                           ///< members take whatever is proposed
    std::chrono::milliseconds longest_lease{2000};
    nanos length{46s};  ///< of which the last 16 s are without faults
    /// Leases do not end within the run: whatever a member still holds at its end was left behind.
    bool leaves_nothing{false};
};

/// What has become of a run.
struct outcome {
    std::string violation;  ///< empty: none
    std::uint64_t grants{0};
    std::uint64_t outvoted{0};
    std::uint64_t split{0};   ///< submits that were refused although nobody held
    std::uint64_t votes{0};   ///< submits of the machine, at members
    std::uint64_t lost{0};    ///< holds whose end was told before it was wanted
    std::uint64_t failed{0};  ///< submits that found no majority
    std::uint64_t wipes{0};
};

/// A clock that begins somewhere and runs at a rate of its own.
struct clock {
    nanos offset{0};
    double rate{1};

    [[nodiscard]] nanos at(nanos truth) const {
        return offset + nanos{static_cast<std::int64_t>(static_cast<double>(truth.count()) * rate)};
    }
    /// The true time at which it shows `shown`.
    [[nodiscard]] nanos when(nanos shown) const {
        return nanos{
            static_cast<std::int64_t>(static_cast<double>((shown - offset).count()) / rate)};
    }
};

class client;

/// Events in the order of their times.
class world {
public:
    explicit world(plan how);
    ~world();

    outcome run();

    // For clients.
    [[nodiscard]] nanos now() const noexcept { return now_; }
    void at(nanos when, std::function<void()> what);
    [[nodiscard]] base::random& draws() noexcept { return random_; }
    [[nodiscard]] plan const& how() const noexcept { return plan_; }
    void send(std::size_t from, stores::quorum::outgoing request);
    [[nodiscard]] outcome& result() noexcept { return out_; }
    [[nodiscard]] bool is_quiet() const noexcept { return !plan_.faults || now_ >= quiet_from_; }
    [[nodiscard]] bool is_ending() const noexcept { return now_ >= end_ - 6s; }

    // For holds: what is believed to be held is checked against all others.
    void on_granted(std::size_t holder, std::string const& name, bool shared, std::uint64_t token,
                    nanos until);
    void on_renewed(std::size_t holder, std::string const& name, nanos until);
    void on_ended(std::size_t holder, std::string const& name);

private:
    struct server {
        clock time;
        std::unique_ptr<stores::memory::machine> store;
        std::uint64_t epoch{1};
        bool up{true};
        nanos stopped_until{0};
    };
    struct event {
        nanos when;
        std::uint64_t order;
        std::function<void()> what;
        bool operator<(event const& other) const {
            return std::pair{when, order} > std::pair{other.when, other.order};
        }
    };
    struct hold {
        bool shared{false};
        nanos until{0};
    };
    struct history {
        std::map<std::size_t, hold> holds;
        std::uint64_t highest{0};            ///< token of all
        std::uint64_t highest_exclusive{0};  ///< token of those who were alone
    };

    void arrive(std::size_t from, stores::quorum::outgoing const& request, bool copy);
    void answer(std::size_t from, std::size_t member, seam::request_id id, seam::reply reply);
    void plan_faults();
    void fault();
    void wipe(server& which);
    [[nodiscard]] nanos delay();
    void look_for_leftovers();
    void violate(std::string words);

    plan plan_;
    base::random random_;
    nanos now_{0};
    nanos quiet_from_;
    nanos end_;
    std::uint64_t order_{0};
    std::priority_queue<event> events_;
    std::vector<server> servers_;
    std::vector<nanos> cut_until_;  ///< clients that reach nobody
    std::vector<std::unique_ptr<client>> clients_;
    std::map<std::string, history> names_;
    outcome out_;
};

}  // namespace holdfast::quorum_tests
