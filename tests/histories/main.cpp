// Runs one history and judges it.
//
//     histories --store ROW [--seed N] [--seconds N] [--careless] [--keep DIRECTORY]
//     histories --judge DIRECTORY      what was kept of a run, once more
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
                 "DIRECTORY]\n       histories --judge DIRECTORY\n       histories --rows\n";
    return 64;
}

/// The first few, with what happened around them. Returns how many there are.
std::size_t tell(history const& all, std::vector<violation> const& violations) {
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, violations.size()); ++i)
        std::cout << "\n" << story(all, violations[i]);
    if (!violations.empty()) std::cout << "\n" << violations.size() << " violations\n";
    return violations.size();
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
    if (tell(result.history, violations) == 0) return 0;
    std::cout << "Again: " << command_of(settings) << "\n";
    return 1;
}

struct command {
    run_settings run{};
    std::string keep{};  ///< where to keep the journals of a run that failed
    std::string kept{};  ///< which to judge again
    bool rows{false};
    bool is_understood{true};
};

command parse(std::vector<std::string> const& words) {
    command out;
    out.run.program = std::filesystem::read_symlink("/proc/self/exe").string();
    out.run.seed = std::random_device{}();
    for (std::size_t i = 0; i < words.size(); ++i) {
        auto const& word = words[i];
        if (word == "--careless")
            out.run.careless = true;
        else if (word == "--rows")
            out.rows = true;
        else if (word == "--judge")
            out.kept = words.at(++i);
        else if (word == "--store")
            out.run.store = words.at(++i);
        else if (word == "--seed")
            out.run.seed = std::stoull(words.at(++i));
        else if (word == "--seconds")
            out.run.lasts = std::chrono::seconds{std::stoi(words.at(++i))};
        else if (word == "--keep")
            out.keep = words.at(++i);
        else
            out.is_understood = false;
    }
    if (out.run.store.empty() && out.kept.empty() && !out.rows) out.is_understood = false;
    return out;
}

int obey(command wanted) {
    if (!wanted.is_understood) return usage();
    if (wanted.rows) {
        for (auto const& name : store_row::names())
            std::cout << name << "\n";
        return 0;
    }
    if (!wanted.kept.empty()) {
        auto const kept = archive{wanted.kept}.read({});
        return tell(kept, check(kept)) == 0 ? 0 : 1;
    }
    holdfast::support::temporary_directory const place;
    wanted.run.directory = place.path();
    auto const status = judge(wanted.run);
    if (status != 0 && !wanted.keep.empty()) {
        std::filesystem::create_directories(wanted.keep);
        std::filesystem::copy(place.path(), wanted.keep, std::filesystem::copy_options::recursive);
    }
    return status;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> const words(arguments + 1, arguments + count);
    try {
        if (!words.empty() && words.front() == "--worker")
            return run_worker(worker_settings::from(words));
        return obey(parse(words));
    } catch (std::exception const& error) {
        std::cerr << "histories: " << error.what() << std::endl;
        return 2;
    }
}
