#include "histories/worker.hpp"

#include <csignal>
#include <deque>
#include <iostream>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

using maker = std::unique_ptr<party> (*)(surroundings const&, identity);

constexpr std::array<maker, 9> full{make_locker,        make_locker,   make_coroutine,
                                    make_candidate,     make_consumer, make_producer,
                                    make_barrier_party, make_evictor,  make_latch_party};
constexpr std::array<maker, 2> careless{make_locker, make_locker};

std::vector<maker> makers(bool is_careless) {
    if (is_careless) return {careless.begin(), careless.end()};
    return {full.begin(), full.end()};
}

/// The parties of one client.
class group {
public:
    group(worker_settings const& settings, archive const& files, plan const& plan, journal& to,
          int number)
        : client_{settings.url, {.patience = 3s}},
          around_{client_, files, plan, to, settings.seed, (settings.number + number) % 2 == 1} {
        auto const all = makers(settings.careless);
        auto next = static_cast<std::size_t>(number) * all.size();
        for (auto const make : all)
            parties_.push_back(make(around_, {static_cast<std::int16_t>(settings.number),
                                              static_cast<std::uint16_t>(settings.incarnation),
                                              static_cast<std::int16_t>(next++)}));
        for (auto& one : parties_)
            threads_.emplace_back([&one](std::stop_token stop) { one->run(std::move(stop)); });
    }

    void request_stop() {
        for (auto& thread : threads_)
            thread.request_stop();
    }
    void finish() {
        threads_.clear();
        parties_.clear();
        client_.close();
    }

private:
    client client_;
    surroundings around_;
    std::vector<std::unique_ptr<party>> parties_;
    std::vector<std::jthread> threads_;
};

}  // namespace

std::vector<std::string> worker_settings::words() const {
    return {"--worker",
            url,
            directory.string(),
            std::to_string(number),
            std::to_string(incarnation),
            std::to_string(clients),
            std::to_string(seed),
            careless ? "careless" : "careful"};
}

worker_settings worker_settings::from(std::vector<std::string> const& words) {
    return {words.at(1),
            words.at(2),
            std::stoi(words.at(3)),
            std::stoi(words.at(4)),
            std::stoi(words.at(5)),
            std::stoull(words.at(6)),
            words.at(7) == "careless"};
}

std::size_t parties_of(int clients, bool careless) {
    return static_cast<std::size_t>(clients) * makers(careless).size();
}

int run_worker(worker_settings const& settings) {
    // Also when it is stopped: whoever started it may be killed.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    archive const files{settings.directory};
    plan run;
    run.careless = settings.careless;
    journal to{files.journal_of(settings.number, settings.incarnation)};
    std::deque<group> groups;
    for (int i = 0; i < settings.clients; ++i)
        groups.emplace_back(settings, files, run, to, i);
    std::string line;
    if (!std::getline(std::cin, line)) ::_exit(3);
    for (auto& one : groups)
        one.request_stop();
    for (auto& one : groups)
        one.finish();
    return 0;
}

}  // namespace holdfast::histories
