// Many processes that use a few names all the time, while something happens to the servers.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "redis/fenced_numbers.hpp"
#include "redis/fixture.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis_faults {

struct load_options {
    /// A release that a failover undoes leaves its name taken for a lease, so that is short.
    std::chrono::milliseconds lease{5000};
    /// For each process in turn, the routes by which it reaches the servers: see other_network.cpp. Empty: directly.
    std::vector<std::string> routes{};
};

/// Sixteen processes from the moment that it is made; `end` ends them and says what is wrong. Not thread-safe.
class fenced_load {
public:
    static constexpr std::size_t count = fenced_numbers::most_processes;

    fenced_load(std::string const& url, std::vector<std::string> names, load_options options = {});

    /// Some of the processes: every `step`th, beginning with `first`.
    struct part {
        std::size_t first{0};
        std::size_t step{1};
    };
    /// Whether every name is used again by some of these; prints how long that took.
    [[nodiscard]] bool goes_on(std::chrono::milliseconds bound) { return goes_on(bound, {}); }
    [[nodiscard]] bool goes_on(std::chrono::milliseconds bound, part of_them);

    void end();

    [[nodiscard]] std::uint64_t losses() const { return numbers_->losses; }
    [[nodiscard]] std::uint64_t refused() const { return numbers_->refused; }

private:
    [[nodiscard]] std::vector<std::uint64_t> visits(part of_them) const;

    std::vector<std::string> names_;
    support::temporary_directory place_;
    fenced_numbers numbers_{place_.path() / "numbers", fenced_numbers::how::make};
    std::deque<support::process> processes_;
};

}  // namespace holdfast::redis_faults
