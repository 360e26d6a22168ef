// One process of a benchmark.
#pragma once

#include <array>
#include <string>

#include "base/descriptor.hpp"
#include "bench/crew.hpp"
#include "bench/histogram.hpp"

namespace holdfast::cli {

/// What a worker leaves behind, in shared memory.
struct worker_report {
    histogram latency{};
    double seconds{0};
    int status{0};  ///< the exit status where it failed
    std::array<char, 512> text{};

    void fail(int with, char const* words) noexcept;

    /// Throws `failure` where it failed.
    void check() const;
};

struct worker_task {
    bench_plan const& plan;
    worker_report& report;
    unsigned index;
    std::string prefix;
    base::descriptor ready;  ///< takes one byte when all owners stand ready
    base::descriptor go;     ///< ends when the measurement begins
};

/// To be called right after fork().
void run_worker(worker_task task) noexcept;

}  // namespace holdfast::cli
