// Runs one history and judges it.
//
//     histories --store ROW [--seed N] [--seconds N] [--careless] [--keep DIRECTORY]
//     histories --rows
//
// Prints the seed, a summary, and each violation with what happened around it. Exit status 1 when there
// is one. With --careless the workers ignore loss and the register does not look at tokens: then the
// status is 0 only if an update *was* lost.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "histories/checker.hpp"
#include "histories/run.hpp"
#include "histories/store.hpp"
#include "histories/summary.hpp"
#include "histories/worker.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace holdfast::histories;

int usage() {
    std::cerr << "usage: histories --store ROW [--seed N] [--seconds N] [--careless] [--keep "
                 "DIRECTORY]\n       histories --rows\n";
    return 64;
}

/// 0 when the run is as it should be.
int judge(run_settings const& settings) {
    std::cout << "histories: store " << settings.store << ", seed " << settings.seed << std::endl;
    auto const result = perform(settings);
    auto const violations = check(result.history);
    std::cout << summary_of(result) << std::flush;
    if (settings.careless) {
        bool const bites = std::any_of(violations.begin(), violations.end(), [](auto const& one) {
            return one.promise == "lost update";
        });
        std::cout << (bites ? "a careless worker lost an update, as it must\n"
                            : "no update was lost, although nobody was careful\n");
        return bites ? 0 : 1;
    }
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, violations.size()); ++i)
        std::cout << "\n" << story(result.history, violations[i]);
    if (violations.empty()) return 0;
    std::cout << "\n"
              << violations.size() << " violations. Again: " << command_of(settings) << "\n";
    return 1;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> const words(arguments + 1, arguments + count);
    run_settings settings;
    settings.program = std::filesystem::read_symlink("/proc/self/exe").string();
    settings.seed = std::random_device{}();
    std::string keep;
    try {
        if (!words.empty() && words.front() == "--worker")
            return run_worker(worker_settings::from(words));
        for (std::size_t i = 0; i < words.size(); ++i) {
            auto const& word = words[i];
            if (word == "--careless")
                settings.careless = true;
            else if (word == "--rows") {
                for (auto const& name : store_row::names())
                    std::cout << name << "\n";
                return 0;
            } else if (word == "--store")
                settings.store = words.at(++i);
            else if (word == "--seed")
                settings.seed = std::stoull(words.at(++i));
            else if (word == "--seconds")
                settings.lasts = std::chrono::seconds{std::stoi(words.at(++i))};
            else if (word == "--keep")
                keep = words.at(++i);
            else
                return usage();
        }
        if (settings.store.empty()) return usage();
        holdfast::support::temporary_directory const place;
        settings.directory = place.path();
        auto const status = judge(settings);
        if (status != 0 && !keep.empty()) {
            std::filesystem::create_directories(keep);
            std::filesystem::copy(place.path(), keep, std::filesystem::copy_options::recursive);
        }
        return status;
    } catch (std::exception const& error) {
        std::cerr << "histories: " << error.what() << std::endl;
        return 2;
    }
}
