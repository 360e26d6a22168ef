// One process of a benchmark.
#pragma once

#include <array>
#include <string>

#include "bench/crew.hpp"
#include "bench/histogram.hpp"
#include "owned_descriptor.hpp"

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
    owned_descriptor ready;  ///< takes one byte when all owners stand ready
    owned_descriptor go;     ///< ends when the measurement begins
};

/// To be called right after fork().
void run_worker(worker_task task) noexcept;

}  // namespace holdfast::cli
