// redis: a private server, one bad network for each worker; with TLS, and with a replica.
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "histories/store.hpp"
#include "support/eventually.hpp"
#include "support/proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using redis_faults::odds;
using redis_faults::proxy;
using support::redis_server;

struct redis_terms {
    bool tls{false};
    bool replica{false};
};

/// What was written before an answer went out is there after SIGKILL: the kernel has it.
std::vector<std::string> const durable{"--appendonly",
                                       "yes",
                                       "--appendfsync",
                                       "no",
                                       "--auto-aof-rewrite-percentage",
                                       "0",
                                       "--repl-diskless-sync-delay",
                                       "0"};

std::vector<std::string> replica_of(redis_server const& master) {
    return {"--replicaof", "127.0.0.1", std::to_string(master.port()), "--repl-ping-replica-period",
            "1"};
}

class redis_store final : public store {
public:
    redis_store(std::uint64_t seed, redis_terms terms)
        : server_{{.tls = terms.tls, .arguments = durable}}, tls_{terms.tls} {
        if (terms.replica)
            replica_.emplace(support::redis_server_options{.arguments = replica_of(server_)});
        for (int i = 0; i < workers(); ++i)
            networks_.push_back(
                std::make_unique<proxy>(server_.port(), seed + static_cast<std::uint64_t>(i)));
        back_up();
    }
    ~redis_store() override {
        server_.resume();
        if (replica_) replica_->resume();
    }

    [[nodiscard]] std::string url(int worker) const override {
        return address(networks_[static_cast<std::size_t>(worker)]->port());
    }
    [[nodiscard]] std::string direct_url() const override { return address(server_.port()); }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        add_server_faults(out);
        add_network_faults(out);
        if (replica_) add_replica_faults(out);
        return out;
    }

    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        std::istringstream keys{server_.ask({"KEYS", "*"})};
        for (std::string key; std::getline(keys, key);)
            if (key != "holdfast:mark" && server_.ask({"PTTL", key}) == "-1")
                out.push_back("the key " + key + ", which does not expire");
        std::istringstream clients{server_.ask({"CLIENT", "LIST"})};
        for (std::string line; std::getline(clients, line);)
            if (line.find("name=holdfast-") != std::string::npos)
                out.push_back("the connection " + line);
        return out;
    }

private:
    [[nodiscard]] std::string address(std::uint16_t port) const {
        auto out = (tls_ ? "rediss://localhost:" : "redis://127.0.0.1:") + std::to_string(port) +
                   "?timeout=1s";
        if (tls_) out += "&ca=" + server_.authority();
        if (replica_) out += "&replicas=1";
        return out + url_options(true);
    }

    void add_server_faults(std::vector<fault>& out) {
        out.push_back({.name = "server stopped",
                       .begin = [this](random&) { server_.stop(); },
                       .end = [this] { server_.resume(); }});
        out.push_back({.name = "server killed",
                       .begin = [this](random&) { server_.kill(); },
                       .end = [this] { server_.start(); }});
        out.push_back({.name = "server restarted empty",
                       .begin = [this](random&) { forget(); },
                       .end = [this] { server_.start(); },
                       .forgets = true,
                       .longest = 1000ms});
        out.push_back({.name = "server restored from a backup",
                       .begin = [this](random& chance) { restore(chance); },
                       .end = [this] { server_.start(); },
                       .forgets = true,
                       .longest = 1000ms});
        out.push_back({.name = "keys evicted",
                       .begin = [this](random& chance) { evict_keys(chance); },
                       .end = [] {},
                       .forgets = true,
                       .longest = 200ms});
        out.push_back({.name = "scripts flushed, connections killed",
                       .begin =
                           [this](random&) {
                               server_.ask({"SCRIPT", "FLUSH"});
                               server_.ask({"CLIENT", "KILL", "TYPE", "normal"});
                               server_.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
                           },
                       .end = [] {},
                       .longest = 200ms});
    }

    // As a server does that is short of memory: some keys go, the others of the same name stay.
    void evict_keys(random& chance) {
        std::istringstream keys{server_.ask({"KEYS", "*"})};
        for (std::string key; std::getline(keys, key);)
            if (chance.once_in(2)) server_.ask({"DEL", key});
    }

    void add_replica_faults(std::vector<fault>& out) {
        out.push_back({.name = "replica stopped",
                       .begin = [this](random&) { replica_->stop(); },
                       .end = [this] { replica_->resume(); }});
        out.push_back({.name = "replica killed",
                       .begin = [this](random&) { replica_->kill(); },
                       .end = [this] { replica_->start(); }});
    }

    void add_network_faults(std::vector<fault>& out) {
        auto const add = [&](char const* name, std::function<void(proxy&, random&)> spoil) {
            out.push_back({.name = name,
                           .begin =
                               [this, spoil = std::move(spoil)](random& chance) {
                                   // One worker's, or everybody's.
                                   auto const one = chance.below(networks_.size());
                                   bool const all = chance.once_in(2);
                                   for (std::size_t i = 0; i < networks_.size(); ++i)
                                       if (all || i == one) spoil(*networks_[i], chance);
                               },
                           .end =
                               [this] {
                                   for (auto& network : networks_) {
                                       network->stall(false);
                                       network->be_good();
                                   }
                               }});
        };
        add("network cut", [](proxy& of, random&) { of.be_bad({.lose_request = 1}); });
        add("network stalled", [](proxy& of, random&) { of.stall(true); });
        add("one connection half-open", [](proxy& of, random& chance) {
            of.swallow(of.connections() - 1 - static_cast<int>(chance.below(3)));
        });
        add("network half-open", [](proxy& of, random&) { of.swallow(); });
        add("network slow",
            [](proxy& of, random&) { of.be_bad({.delay = 1, .longest_delay = 400ms}); });
        add("network lossy", [](proxy& of, random&) {
            of.be_bad({.lose_request = 40,
                       .lose_reply = 40,
                       .cut_reply = 40,
                       .silence = 100,
                       .garble = 200,
                       .delay = 10,
                       .repeat = true});
        });
    }

    // A copy of the data as they are now, to begin with some day.
    void back_up() {
        // Refused while the server saves for its replica.
        if (!support::eventually([this] { return server_.ask({"SAVE"}) == "OK"; }))
            throw std::runtime_error{"redis-server does not save"};
        std::filesystem::copy_file(file("dump.rdb"), file("backup.rdb"),
                                   std::filesystem::copy_options::overwrite_existing);
    }

    void forget() {
        server_.kill();
        std::filesystem::remove_all(file("appendonlydir"));
        std::filesystem::remove(file("dump.rdb"));
    }

    // An append-only file that has nothing but the backup. A young one has claims whose leases go on,
    // although their holders gave them back since.
    void restore(random& chance) {
        if (chance.once_in(2)) {
            back_up();
            std::this_thread::sleep_for(chance.between(100ms, 900ms));
        }
        forget();
        std::filesystem::create_directory(file("appendonlydir"));
        std::filesystem::copy_file(file("backup.rdb"),
                                   file("appendonlydir/appendonly.aof.1.base.rdb"));
        std::ofstream{file("appendonlydir/appendonly.aof.manifest")}
            << "file appendonly.aof.1.base.rdb seq 1 type b\n";
    }

    [[nodiscard]] std::filesystem::path file(char const* name) const {
        return std::filesystem::path{server_.directory()} / name;
    }

    redis_server server_;
    std::optional<redis_server> replica_;
    bool tls_;
    std::vector<std::unique_ptr<proxy>> networks_;
};

store_row::maker with(redis_terms terms) {
    return [terms](std::uint64_t seed) { return std::make_unique<redis_store>(seed, terms); };
}

store_row const plain{"redis", with({})};
store_row const secure{"rediss", with({.tls = true})};
store_row const replicated{"redis-replicas", with({.replica = true})};

}  // namespace

}  // namespace holdfast::histories
