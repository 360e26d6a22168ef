// party: somebody in a worker who does the same kind of thing again and again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/options.hpp>

#include "histories/history.hpp"
#include "histories/random.hpp"
#include "histories/recorder.hpp"
#include "histories/visit.hpp"

namespace holdfast::histories {

using namespace std::chrono_literals;

/// What the parties of a worker share. Outlives them.
struct surroundings {
    holdfast::client& client;
    archive const& files;
    histories::plan const& plan;
    journal& to;
    std::uint64_t seed{0};
    bool asio{false};  ///< whether parties that can choose use the Asio forms
};

/// Runs on a thread of its own, or on one that it shares with other coroutines.
class party {
public:
    party(surroundings const& around, identity who);
    virtual ~party() = default;
    party(party const&) = delete;
    party& operator=(party const&) = delete;

    /// Until a stop is requested: step after step.
    virtual void run(std::stop_token stop);

protected:
    /// One thing. What it throws is written down when nobody expects it, and is otherwise a bad day.
    virtual void step() = 0;

    [[nodiscard]] bool stopping() const { return stop_.stop_requested(); }
    /// Waits, but not beyond the end of the run.
    void rest(std::chrono::milliseconds least, std::chrono::milliseconds most);
    /// Writes down an error that is not part of any fault.
    void complain(std::exception const& error);
    [[nodiscard]] visit begin(std::vector<std::string> names, mode how = mode::exclusive,
                              std::int64_t permits = 1);
    [[nodiscard]] lock_options random_options();

    surroundings const& around_;
    recorder record_;
    random random_;
    std::stop_token stop_;
};

/// Whether an error is what a fault may bring: the store could not be reached, the hold was lost.
[[nodiscard]] bool is_expected(std::error_code const& code);

/// Requests a stop after a while, from a thread of its own; never after its end.
class canceller {
public:
    explicit canceller(std::chrono::milliseconds delay);
    [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

private:
    std::stop_source source_;
    std::jthread thread_;
};

/// `lock_all` waits while it holds nothing, so it has no turn: where two lines never empty at the same moment it may wait
/// for ever. Whoever wants several gives up after this, well before a party that does not get on is a finding.
inline constexpr std::chrono::seconds longest_collecting{15};

// The parties, each in its file.
[[nodiscard]] std::unique_ptr<party> make_locker(surroundings const& around, identity who);
[[nodiscard]] std::unique_ptr<party> make_candidate(surroundings const& around, identity who);
[[nodiscard]] std::unique_ptr<party> make_latch_party(surroundings const& around, identity who);
[[nodiscard]] std::unique_ptr<party> make_barrier_party(surroundings const& around, identity who);
[[nodiscard]] std::unique_ptr<party> make_consumer(surroundings const& around, identity who);
[[nodiscard]] std::unique_ptr<party> make_producer(surroundings const& around, identity who);
[[nodiscard]] std::unique_ptr<party> make_evictor(surroundings const& around, identity who);
/// The same by the Asio forms.
[[nodiscard]] std::unique_ptr<party> make_asio_consumer(surroundings const& around, identity who);
/// A coroutine that locks, on an io_context of its own.
[[nodiscard]] std::unique_ptr<party> make_coroutine(surroundings const& around, identity who);

}  // namespace holdfast::histories
