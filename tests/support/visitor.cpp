// A process that locks a few names in turn, and changes what they guard, until its input ends.
//
//     visitor URL FILE NUMBER LEASE-MS NAME...
//
// FILE has the numbers that the names guard; NUMBER is that of the process. What it cannot expect it prints, with status 1.
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <holdfast/holdfast.hpp>

#include "support/fenced_numbers.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::support::fenced_numbers;

class visitor {
public:
    explicit visitor(std::vector<std::string> const& words)
        : client_{words.at(1), {.patience = 60s}},
          numbers_{words.at(2), fenced_numbers::how::open},
          process_{std::stoul(words.at(3))},
          lease_{std::stol(words.at(4))},
          names_{words.begin() + 5, words.end()} {}

    void run() {
        for (auto turn = process_; !is_over(); ++turn)
            visit(turn % names_.size());
        client_.close();
        numbers_->losses += client_.metrics()["losses"];
        numbers_->not_rising += client_.metrics()["tokens_not_rising"];
    }

private:
    /// Leaves the servers some time.
    [[nodiscard]] static bool is_over() {
        constexpr int pause = 2;  // milliseconds
        pollfd input{STDIN_FILENO, POLLIN, 0};
        return ::poll(&input, 1, pause) != 0;
    }

    void visit(std::size_t which) {
        auto const order = which % 2 == 0 ? holdfast::ordering::fair : holdfast::ordering::barging;
        try {
            auto const held =
                holdfast::mutex{client_, names_[which], {.lease = lease_, .order = order}}
                    .try_acquire_for(30s);
            if (!held) return;
            auto& number = numbers_->numbers.at(which);
            auto const seen = number.read(held->token(), process_);
            std::this_thread::yield();
            if (number.write(held->token(), process_, seen + 1))
                ++numbers_->visits.at(process_).at(which);
            else
                ++numbers_->refused;
        } catch (std::system_error const& error) {
            if (error.code() != holdfast::errc::store_unavailable) throw;
            ++numbers_->unavailable;
        }
    }

    holdfast::client client_;
    fenced_numbers numbers_;
    std::size_t process_;
    std::chrono::milliseconds lease_;
    std::vector<std::string> names_;
};

}  // namespace

int main(int count, char** arguments) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        visitor{{arguments, arguments + count}}.run();
        return 0;
    } catch (std::exception const& error) {
        std::cout << error.what() << std::endl;
        return 1;
    }
}
