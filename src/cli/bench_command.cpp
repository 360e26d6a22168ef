// holdfast bench: how many pairs of lock and unlock the store gives.

#include <memory>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/crew.hpp"
#include "exit_status.hpp"
#include "invocation.hpp"
#include "option.hpp"
#include "store_choice.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr char const* bench_examples =
    "Each owner is a thread that locks and unlocks one of the names, as often as it can. A pair's\n"
    "latency is the time from asking for the lock until its unlock has returned.\n"
    "\n"
    "Examples:\n"
    "  holdfast bench --owners 64                        64 threads on one name\n"
    "  holdfast bench --owners 256 --names 256           no two on the same\n"
    "  holdfast bench --mode fair --processes 8 --json   hand-over between processes";

bench_mode mode_of(std::string const& word) {
    if (word == "mutex") return bench_mode::mutex;
    if (word == "fair") return bench_mode::fair;
    if (word == "shared") return bench_mode::shared;
    if (word == "semaphore") return bench_mode::semaphore;
    throw usage_error{
        fmt::format("--mode: '{}' is none of mutex, fair, shared and semaphore", word)};
}

std::string json_of(bench_result const& result) {
    nlohmann::ordered_json const out{{"pairs", result.pairs},
                                     {"seconds", result.seconds},
                                     {"pairs_per_second", result.pairs_per_second()},
                                     {"latency_us",
                                      {{"p50", result.latency.quantile_us(0.5)},
                                       {"p99", result.latency.quantile_us(0.99)},
                                       {"max", result.latency.max_us()}}}};
    return out.dump() + "\n";
}

std::string text_of(bench_result const& result) {
    return fmt::format(
        "{} pairs in {:.2f} s: {:.0f} pairs per second\n"
        "latency of a pair: p50 {:.1f} µs, p99 {:.1f} µs, max {:.1f} µs\n",
        result.pairs, result.seconds, result.pairs_per_second(), result.latency.quantile_us(0.5),
        result.latency.quantile_us(0.99), result.latency.max_us());
}

struct bench_options {
    bench_plan plan{};
    std::string mode{"mutex"};
    bool json{false};
};

int bench(bench_options& options, invocation const& invocation) {
    options.plan.mode = mode_of(options.mode);
    options.plan.store = choose_store(invocation).url;
    options.plan.patience = invocation.patience;
    if (options.plan.duration.count() == 0) throw usage_error{"--duration: 0 measures nothing"};
    auto const result = crew{options.plan}.run();
    print_out(options.json ? json_of(result) : text_of(result));
    return exit_status::success;
}

}  // namespace

void define_bench(CLI::App& parent, invocation& invocation) {
    auto options = std::make_shared<bench_options>();
    auto* app = parent.add_subcommand("bench", "Measure pairs of lock and unlock");
    app->footer(bench_examples);
    auto& plan = options->plan;
    add_number(*app, "--owners", plan.owners, 1U, 4096U, "Threads in each process (1)");
    add_number(*app, "--names", plan.names, 1U, 1'000'000U, "Names they share among them (1)");
    add_number(*app, "--processes", plan.processes, 1U, 1024U, "Processes (1)");
    app->add_option("--mode", options->mode,
                    "mutex (barging), fair (first come, first served), shared (readers) or "
                    "semaphore (as many permits as owners)")
        ->type_name("MODE");
    add_duration(*app, "--duration", plan.duration, "How long to measure (3s)");
    app->add_flag("--json", options->json, "For programs: one object");
    app->callback([options, &invocation] {
        invocation.action = [options, &invocation] { return bench(*options, invocation); };
    });
}

}  // namespace holdfast::cli
