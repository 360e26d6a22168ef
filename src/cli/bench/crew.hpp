// The processes of a benchmark: started together, stopped together, added up.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <holdfast/options.hpp>

#include "bench/histogram.hpp"

namespace holdfast::cli {

enum class bench_mode { mutex, fair, shared, semaphore };

struct bench_plan {
    std::string store{};
    std::chrono::milliseconds patience{client_options{}.patience};  ///< with a silent store
    unsigned owners{1};
    unsigned names{1};
    unsigned processes{1};
    bench_mode mode{bench_mode::mutex};
    std::chrono::milliseconds duration{3000};
};

struct bench_result {
    std::uint64_t pairs{0};
    double seconds{0};
    histogram latency{};

    [[nodiscard]] double pairs_per_second() const noexcept {
        return seconds > 0 ? static_cast<double>(pairs) / seconds : 0;
    }
};

class crew {
public:
    explicit crew(bench_plan const& plan) noexcept : plan_{plan} {}

    /// Throws the error of the first worker that failed.
    [[nodiscard]] bench_result run() const;

private:
    bench_plan const& plan_;
};

}  // namespace holdfast::cli
