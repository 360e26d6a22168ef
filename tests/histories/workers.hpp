// workers: the processes of a run, as whoever injects the faults sees them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "histories/history.hpp"
#include "histories/recorder.hpp"
#include "histories/run.hpp"
#include "histories/store.hpp"
#include "histories/worker.hpp"
#include "support/process.hpp"

namespace holdfast::histories {

/// Not thread-safe.
class workers {
public:
    workers(run_settings const& settings, store const& with, archive const& files, journal& log);

    [[nodiscard]] crew who() const noexcept { return crew_; }
    [[nodiscard]] int count() const { return static_cast<int>(all_.size()); }

    void stop(int worker);
    void resume(int worker);
    /// Kills it with SIGKILL; `start` makes the next incarnation.
    void kill(int worker);
    void start(int worker);

    /// How often each party of each worker got on.
    using census = std::vector<std::vector<std::uint64_t>>;
    [[nodiscard]] census progress() const;
    /// Somebody who has not got on since `then`, in words and as a number.
    struct straggler {
        std::string words{};
        int worker{-1};
        int party{-1};
    };
    [[nodiscard]] std::optional<straggler> behind(census const& then) const;

    /// Tells all to end; what does not end in time is told to the log, and killed.
    void finish();

private:
    struct one {
        std::unique_ptr<support::process> process{};
        std::unique_ptr<journal> record{};
        int incarnation{-1};
    };

    run_settings const& settings_;
    store const& store_;
    archive const& files_;
    journal& log_;
    crew crew_;
    std::vector<one> all_;
};

}  // namespace holdfast::histories
