// `holdfast run x -- true` beside `flock x true`: wall time of the whole command, by turns.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "duel.hpp"

namespace {

constexpr int rounds = 400;
constexpr double goal = 3;

class command {
public:
    explicit command(std::vector<std::string> words) : words_{std::move(words)} {
        for (auto& it : words_)
            arguments_.push_back(it.data());
        arguments_.push_back(nullptr);
        (void)milliseconds();  // warm
    }

    [[nodiscard]] double milliseconds() {
        return 1'000 * bench::seconds([this] { run(); });
    }

private:
    void run() {
        pid_t child = 0;
        int status = 0;
        if (::posix_spawnp(&child, arguments_[0], nullptr, nullptr, arguments_.data(), environ) !=
            0)
            throw std::runtime_error{words_.front() + " cannot be started"};
        if (::waitpid(child, &status, 0) != child || status != 0)
            throw std::runtime_error{words_.front() + " failed"};
    }

    std::vector<std::string> words_;
    std::vector<char*> arguments_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: start_up HOLDFAST DIRECTORY\n", stderr);
        return 2;
    }
    std::string const where = argv[2];
    command ours{{argv[1], "--store", "file:" + where + "/start-up.db", "run", "x", "--", "true"}};
    command theirs{{"flock", where + "/start-up.lock", "true"}};
    command bare{{"true"}};
    std::vector<double> our_times;
    std::vector<double> their_times;
    std::vector<double> bare_times;
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) {
        their_times.push_back(theirs.milliseconds());
        our_times.push_back(ours.milliseconds());
        bare_times.push_back(bare.milliseconds());
        ratios.push_back(our_times.back() / their_times.back());
    }
    auto const middle = [](std::vector<double> const& of) { return bench::spread_of(of).median; };
    std::ranges::sort(ratios);
    auto const ratio = ratios[rounds / 2];
    cpu_set_t cores{};
    ::sched_getaffinity(0, sizeof cores, &cores);
    std::printf("start-up: holdfast run x -- true on file:, cores: %d\n", CPU_COUNT(&cores));
    std::printf("  holdfast %.2f ms, flock %.2f ms, `true` alone %.2f ms\n", middle(our_times),
                middle(their_times), middle(bare_times));
    std::printf("  ratio %.2f (one in ten below %.2f, one in ten above %.2f), goal %.0f: %s\n",
                ratio, ratios[rounds / 10], ratios[rounds - rounds / 10], goal,
                ratio <= goal ? "met" : "NOT met");
}
