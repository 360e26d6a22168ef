// A process that holds what a test tells it to: one command per line, one line of answer each.
//
//     process_worker URL [PATIENCE-MS]
//
//     acquire NAME [lease=MS] [owner=TEXT] [renew=no] [order=fair]    held TOKEN
//     state | reason | lost                                           what the lease says
//     await-loss MS                                                   told, or silent
//     remaining                                                       the milliseconds that are left
//     hold-on MS                                                      for how many of so many it was held
//     release                                                         the outcome
//     write PATH TEXT                                                 written, or refused
//     count NAME PATH TIMES                                           done
//     count-down NAME COUNT                                           counted
//     await-latch NAME                                                open
//     arrive NAME PARTIES                                             tripped GENERATION, or broken
//     await-notice CONDITION MUTEX                                    noticed
//     notify CONDITION                                                notified
//     campaign NAME VALUE [lease=MS]                                  held TOKEN
//     leader NAME                                                     VALUE, or nobody
//
// It ends with its input.
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/eventually.hpp"
#include "support/fenced_file.hpp"

namespace {

using words = std::vector<std::string>;

words split(std::string const& line) {
    std::istringstream in{line};
    return {std::istream_iterator<std::string>{in}, {}};
}

holdfast::lock_options options_of(words const& from) {
    holdfast::lock_options out;
    for (auto const& word : from) {
        auto const equals = word.find('=');
        if (equals == std::string::npos) continue;
        auto const key = word.substr(0, equals);
        auto const value = word.substr(equals + 1);
        if (key == "lease") out.lease = std::chrono::milliseconds{std::stoll(value)};
        if (key == "owner") out.owner = value;
        if (key == "renew") out.renew = value != "no";
        if (key == "order" && value == "fair") out.order = holdfast::ordering::fair;
    }
    return out;
}

/// Reads, adds and writes in three steps: without exclusion updates get lost.
void add_one(std::string const& path) {
    long value = 0;
    std::ifstream{path} >> value;
    std::ofstream{path} << value + 1 << '\n';
}

class worker {
public:
    worker(std::string const& url, std::chrono::milliseconds patience)
        : client_{url, {.patience = patience}} {}

    std::string answer(words const& command) {
        auto const& what = command.at(0);
        if (what == "acquire") return acquire(command);
        if (what == "state") return to_string(held_.state());
        if (what == "reason") return held_.loss_reason();
        if (what == "lost") return held_.lost().stop_requested() ? "told" : "silent";
        if (what == "await-loss") return await_loss(std::stoll(command.at(1)));
        if (what == "remaining") return std::to_string(held_.remaining().count());
        if (what == "hold-on") return hold_on(std::chrono::milliseconds{std::stoll(command.at(1))});
        if (what == "release") return to_string(held_.release());
        if (what == "write") return write(command.at(1), command.at(2));
        if (what == "campaign") return campaign(command);
        if (what == "count") return count(command.at(1), command.at(2), std::stoi(command.at(3)));
        return meet(what, command);
    }

private:
    // The synchronizers that are not locks.
    std::string meet(std::string const& what, words const& command) {
        auto const& name = command.at(1);
        if (what == "count-down") {
            holdfast::latch{client_, name, number(command.at(2))}.count_down();
            return "counted";
        }
        if (what == "await-latch") {
            holdfast::latch{client_, name}.wait();
            return "open";
        }
        if (what == "arrive") return arrive(name, number(command.at(2)));
        if (what == "await-notice") {
            holdfast::mutex guard{client_, command.at(2)};
            std::unique_lock lock{guard};
            holdfast::condition_variable{client_, name}.wait(lock);
            return "noticed";
        }
        if (what == "notify") {
            holdfast::condition_variable{client_, name}.notify_one();
            return "notified";
        }
        if (what == "leader") {
            auto const leads = holdfast::election{client_, name}.leader();
            return leads ? leads->value : "nobody";
        }
        return "what is '" + what + "'?";
    }

    static std::uint32_t number(std::string const& word) {
        return static_cast<std::uint32_t>(std::stoul(word));
    }

    std::string arrive(std::string const& name, std::uint32_t parties) {
        try {
            holdfast::barrier it{client_, name, parties};
            return "tripped " + std::to_string(it.arrive_and_wait());
        } catch (std::system_error const& error) {
            if (error.code() != holdfast::errc::broken_barrier) throw;
            return "broken";
        }
    }

    std::string campaign(words const& command) {
        held_ =
            holdfast::election{client_, command.at(1), options_of(command)}.campaign(command.at(2));
        return "held " + std::to_string(held_.token());
    }

    std::string acquire(words const& command) {
        auto const options = options_of(command);
        if (options.owner.empty()) {
            held_ = holdfast::mutex{client_, command.at(1), options}.acquire();
        } else {
            held_ = holdfast::recursive_mutex{client_, command.at(1), options}.acquire();
        }
        since_ = {};
        return "held " + std::to_string(held_.token());
    }

    std::string await_loss(long long bound) {
        auto const lost = held_.lost();
        bool const told = holdfast::support::eventually([&] { return lost.stop_requested(); },
                                                        std::chrono::milliseconds{bound});
        return told ? "told" : "silent";
    }

    // From the answer to `acquire` on, to the last moment before it was found to be held.
    std::string hold_on(std::chrono::milliseconds bound) const {
        std::chrono::milliseconds last{0};
        for (auto at = since_.elapsed(); at < bound && held_.held(); at = since_.elapsed()) {
            last = at;
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return std::to_string(last.count());
    }

    std::string write(std::string const& path, std::string const& text) {
        return holdfast::support::fenced_file{path}.write(held_.token(), text) ? "written"
                                                                               : "refused";
    }

    std::string count(std::string const& name, std::string const& path, int times) {
        holdfast::mutex shared{client_, name};
        for (int i = 0; i < times; ++i) {
            std::lock_guard const guard{shared};
            add_one(path);
        }
        return "done";
    }

    holdfast::client client_;
    holdfast::lease held_;
    holdfast::support::stopwatch since_;  ///< the grant
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 2 || count > 3) return 64;
    try {
        std::chrono::milliseconds const patience{count == 3 ? std::stoll(arguments[2]) : 10'000};
        worker it{arguments[1], patience};
        for (std::string line; std::getline(std::cin, line);) {
            auto const command = split(line);
            if (!command.empty()) std::cout << it.answer(command) << std::endl;
        }
        return 0;
    } catch (std::exception const& error) {
        std::cout << error.what() << std::endl;
        return 1;
    }
}
