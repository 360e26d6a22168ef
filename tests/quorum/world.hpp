// Clients of a quorum, its members and the network between them, on simulated time from a seed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "quorum/promises.hpp"
#include "stores/memory/shared_state.hpp"
#include "stores/quorum/machine.hpp"

namespace holdfast::quorum_tests {

using namespace std::chrono_literals;
/// What a run is made of. Everything else is drawn from the seed.
struct plan {
    std::uint64_t seed{1};
    std::size_t members{3};
    std::size_t clients{4};
    std::size_t names{2};
    double drift{0.0045};  ///< rates of all clocks differ from the true one by no more
    bool faults{true};
    bool wipes{true};         ///< among them, members that lose their data
    bool restarts{true};      ///< and members that begin anew with it
    bool same_clocks{false};  ///< some of those have the clock afterwards that they had
    bool unseen{false};       ///< and clients do not see that the connection was lost
    bool partitions{false};   ///< each client reaches others of the members
    bool hours_apart{
        false};  ///< clocks of members, also with members that lose their data: tokens may fall then
    bool evicts{false};
    // What clients do with their holds.
    bool downgrades{false};
    bool keeps{false};              ///< the name, for a while after the release
    std::uint64_t longest_keep{1};  ///< in longest leases
    bool joins{false};              ///< claims of one owner, as one hold
    nanos slow_answers{0};          ///< answers may take so much longer than requests
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

    /// What is believed to be held is checked against all others.
    [[nodiscard]] promises& held() noexcept { return promises_; }

private:
    struct server {
        clock time;
        std::unique_ptr<stores::memory::machine> store;
        std::uint64_t epoch{1};
        std::uint64_t life{0};  ///< of those that have the same clock
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
    void arrive(std::size_t from, stores::quorum::outgoing const& request, bool copy);
    void answer(std::size_t from, std::size_t member, seam::request_id id, seam::reply reply);
    void deliver(std::size_t to, std::size_t member, std::uint64_t life, seam::request_id id,
                 seam::reply reply);
    void plan_faults();
    void fault();
    void cut_off(nanos span);
    void harm(std::size_t which, std::uint64_t how, nanos span);
    void wipe(server& which);
    void begin_anew(server& which);
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
    std::vector<std::vector<nanos>> cut_until_;  ///< by client and member
    std::vector<std::vector<std::uint64_t>>
        known_lives_;  ///< of each member, as each client knows it
    std::vector<std::unique_ptr<client>> clients_;
    promises promises_;
    outcome out_;
};

}  // namespace holdfast::quorum_tests
