#include "support/redis_sentinels.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/eventually.hpp"

namespace holdfast::support {

namespace {

using namespace std::chrono_literals;

constexpr auto sentinels_agree_within = 60s;

void insist(bool met, char const* what) {
    if (!met) throw std::runtime_error{std::string{"the sentinels do not come to this: "} + what};
}

/// The value behind a name in lines of names and values in turn.
std::string field(std::string const& lines, std::string const& name) {
    std::istringstream in{lines};
    for (std::string line; std::getline(in, line);)
        if (line == name && std::getline(in, line)) return line;
    return {};
}

bool is_in_step(redis_server const& replica) {
    auto const state = replica.ask({"INFO", "replication"});
    return state.find("role:slave") != std::string::npos &&
           state.find("master_link_status:up") != std::string::npos;
}

}  // namespace

redis_sentinels::redis_sentinels(redis_sentinels_options options) : options_{std::move(options)} {
    redis_server_options each{.tls = options_.tls,
                              .arguments = {"--repl-diskless-sync-delay", "0"}};
    if (options_.tls) each.arguments.insert(each.arguments.end(), {"--tls-replication", "yes"});
    each.arguments.insert(each.arguments.end(), options_.arguments.begin(),
                          options_.arguments.end());
    for (auto const ahead : options_.clocks_ahead) {
        auto here = each;
        here.clock_ahead = ahead;
        here.place = options_.places[servers_.size()];
        if (!servers_.empty()) {
            here.certificates = servers_.front()->certificates();
            here.arguments.insert(here.arguments.end(), {"--replicaof", "127.0.0.1",
                                                         std::to_string(servers_.front()->port())});
        }
        servers_.push_back(std::make_unique<redis_server>(here));
    }
    auto const lines = first_lines(servers_.front()->port()) + "sentinel config-epoch " +
                       master_name + " " + std::to_string(options_.epoch) + "\n";
    for (std::size_t i = 0; i < servers_.size(); ++i)
        sentinels_.push_back(std::make_unique<redis_server>(redis_server_options{
            .tls = options_.tls,
            .arguments = options_.tls ? std::vector<std::string>{"--tls-replication", "yes"}
                                      : std::vector<std::string>{},
            .sentinel_of = lines,
            .certificates = options_.tls ? servers_.front()->certificates() : std::string{},
            .place = options_.places[servers_.size() + i]}));
    await_in_step();
}

std::string redis_sentinels::first_lines(std::uint16_t master_port) const {
    std::string const name = master_name;
    return "sentinel monitor " + name + " 127.0.0.1 " + std::to_string(master_port) +
           " 2\nsentinel down-after-milliseconds " + name + " " +
           std::to_string(options_.down_after.count()) + "\nsentinel failover-timeout " + name +
           " 3000\nsentinel parallel-syncs " + name + " 2\n" + options_.sentinel_lines;
}

std::string redis_sentinels::url() const {
    std::string out = options_.tls ? "rediss+sentinel://" : "redis+sentinel://";
    for (auto const& each : sentinels_)
        out += (each == sentinels_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
               std::to_string(each->port());
    return out + "/" + master_name;
}

// 0 while they do not agree.
std::uint16_t redis_sentinels::master_port() const {
    std::string agreed;
    for (auto const& each : sentinels_) {
        if (!each->is_alive()) continue;
        auto const said = each->ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name});
        if (!agreed.empty() && said != agreed) return 0;
        agreed = said;
    }
    auto const line = agreed.find('\n');
    return line == std::string::npos
               ? std::uint16_t{0}
               : static_cast<std::uint16_t>(std::stoi(agreed.substr(line + 1)));
}

redis_server& redis_sentinels::master() {
    std::uint16_t port = 0;
    insist(eventually([&] { return (port = master_port()) != 0; }, sentinels_agree_within),
           "one master");
    for (auto const& each : servers_)
        if (each->port() == port) return *each;
    throw std::runtime_error{"the sentinels have a master that is not ours"};
}

void redis_sentinels::await_other_than(redis_server const& old) {
    insist(eventually([&] { return &master() != &old; }, sentinels_agree_within), "another master");
}

void redis_sentinels::await_in_step() {
    insist(eventually(
               [&] {
                   for (auto const& each : sentinels_) {
                       auto const known = each->ask({"SENTINEL", "MASTER", master_name});
                       if (field(known, "num-slaves") != "2" ||
                           field(known, "num-other-sentinels") != "2" ||
                           field(known, "flags") != "master")
                           return false;
                   }
                   auto const& leads = master();
                   for (auto const& each : servers_)
                       if (each.get() != &leads && each->is_alive() && !is_in_step(*each))
                           return false;
                   return true;
               },
               sentinels_agree_within),
           "replicas in step");
}

void redis_sentinels::fail_over() {
    auto const& old = master();
    // Refused while an earlier one is not quite over.
    insist(eventually(
               [&] {
                   return sentinels_.front()->ask({"SENTINEL", "FAILOVER", master_name}) == "OK";
               },
               sentinels_agree_within),
           "a failover");
    await_other_than(old);
}

void redis_sentinels::make_sentinels_anew() {
    auto const lines = first_lines(master().port());
    for (auto const& each : sentinels_)
        each->kill();
    for (auto const& each : sentinels_) {
        std::ofstream{each->directory() + "/sentinel.conf"} << lines;
        each->start();
    }
    await_in_step();
}

}  // namespace holdfast::support
