#include "histories/worker.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <iostream>
#include <span>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

struct role {
    char const* name;
    std::unique_ptr<party> (*make)(surroundings const&, identity);
};

constexpr std::array<role, 9> everybody{{{"locker", make_locker},
                                         {"locker", make_locker},
                                         {"coroutine", make_coroutine},
                                         {"evictor", make_evictor},
                                         {"candidate", make_candidate},
                                         {"consumer", make_consumer},
                                         {"producer", make_producer},
                                         {"barrier party", make_barrier_party},
                                         {"latch party", make_latch_party}}};

/// Those of one client.
std::span<role const> roles(crew who) {
    constexpr std::span<role const> all{everybody};
    switch (who) {
    case crew::careless: return all.first(2);
    case crew::locks: return all.first(4);
    case crew::everybody: break;
    }
    return all;
}

/// A crew as an argument of the program.
constexpr std::array<char const*, 3> crew_words{"everybody", "locks", "careless"};

crew crew_of(std::string const& word) {
    auto const found = std::ranges::find(crew_words, word);
    return static_cast<crew>(found - crew_words.begin());
}

/// The parties of one client.
class group {
public:
    group(worker_settings const& settings, archive const& files, plan const& plan, journal& to,
          int number)
        : client_{settings.url, {.patience = 3s}},
          around_{client_, files, plan, to, settings.seed, (settings.number + number) % 2 == 1} {
        auto const all = roles(settings.crew);
        auto next = static_cast<std::size_t>(number) * all.size();
        for (auto const& one : all)
            parties_.push_back(one.make(around_, {static_cast<std::int16_t>(settings.number),
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
        if (client_.metrics()["tokens_not_rising"] != 0) {
            event one;
            one.kind = kind::contradiction;
            one.before = one.after = boot_time();
            one.set_note("the client itself has seen a token that did not rise");
            around_.to.append(one);
        }
        client_.close();
    }

private:
    client client_;
    surroundings around_;
    std::vector<std::unique_ptr<party>> parties_;
    std::vector<std::jthread> threads_;
};

/// Whether anybody holds or waits for anything.
bool is_used(std::string const& url) {
    auto const names = client{url}.locks();
    return std::any_of(names.begin(), names.end(), [](lock_info const& one) {
        return !one.holders.empty() || !one.waiters.empty();
    });
}

}  // namespace

std::vector<std::string> worker_settings::words() const {
    return {"--worker",
            url,
            directory.string(),
            std::to_string(number),
            std::to_string(incarnation),
            std::to_string(clients),
            std::to_string(seed),
            crew_words[static_cast<std::size_t>(crew)]};
}

worker_settings worker_settings::from(std::vector<std::string> const& words) {
    return {words.at(1),
            words.at(2),
            std::stoi(words.at(3)),
            std::stoi(words.at(4)),
            std::stoi(words.at(5)),
            std::stoull(words.at(6)),
            crew_of(words.at(7))};
}

std::size_t parties_of(int clients, crew who) {
    return static_cast<std::size_t>(clients) * roles(who).size();
}

char const* role_of(std::size_t party, crew who) {
    auto const all = roles(who);
    return all[party % all.size()].name;
}

int run_worker(worker_settings const& settings) {
    // Also when it is stopped: whoever started it may be killed.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    archive const files{settings.directory};
    plan run;
    run.crew = settings.crew;
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
    // Nobody else can look into this one.
    if (settings.url.starts_with("memory:") && is_used(settings.url)) return 4;
    return 0;
}

}  // namespace holdfast::histories
