// postgres: a private server, one bad network for each worker; and through pgbouncer in transaction mode.
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "histories/store.hpp"
#include "support/postgres_server.hpp"
#include "support/proxy.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using redis_faults::proxy;
using support::postgres_server;

class postgres_store final : public store {
public:
    postgres_store(std::uint64_t seed, bool pooled) {
        if (pooled) pooler_.emplace(server_);
        for (int i = 0; i < workers(); ++i)
            networks_.push_back(std::make_unique<proxy>(pooled ? pooler_->port() : server_.port(),
                                                        seed + static_cast<std::uint64_t>(i)));
    }
    ~postgres_store() override { server_.resume(); }

    [[nodiscard]] std::string url(int worker) const override {
        return address(networks_[static_cast<std::size_t>(worker)]->port());
    }
    [[nodiscard]] std::string direct_url() const override { return address(server_.port()); }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> out;
        add_server_faults(out);
        add_losses(out);
        add_network_faults(out);
        return out;
    }

    // Rows of the dead are swept up later: that each of them has an end is what is looked at.
    [[nodiscard]] std::vector<std::string> leftovers() override {
        std::vector<std::string> out;
        std::istringstream found{server_.ask(
            "SELECT 'the session ' || id || ', which does not end' FROM holdfast_session WHERE "
            "expires > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + lease * 1000 "
            "UNION ALL SELECT 'a transaction since ' || xact_start FROM pg_stat_activity WHERE "
            "application_name = 'holdfast' AND state LIKE 'idle in%' UNION ALL SELECT 'the "
            "connection ' || pid FROM pg_stat_activity WHERE application_name = 'holdfast' AND "
            "client_port IS NOT NULL" +
            std::string{pooler_ ? " AND false" : ""})};
        for (std::string line; std::getline(found, line);)
            if (!line.empty()) out.push_back(line);
        return out;
    }

private:
    [[nodiscard]] static std::string address(std::uint16_t port) {
        return "postgres://postgres@127.0.0.1:" + std::to_string(port) + "/postgres?timeout=1s" +
               url_options(true);
    }

    void add_server_faults(std::vector<fault>& out) {
        out.push_back({.name = "server stopped",
                       .begin = [this](random&) { server_.stop(); },
                       .end = [this] { server_.resume(); }});
        out.push_back({.name = "server killed",
                       .begin = [this](random&) { server_.kill(); },
                       .end = [this] { server_.start(); }});
        out.push_back({.name = "all backends terminated",
                       .begin = [this](random&) { terminate("true"); },
                       .end = [] {},
                       .longest = 200ms});
        out.push_back({.name = "some backends terminated again and again",
                       .begin =
                           [this](random& chance) {
                               for (auto left = 3 + chance.below(5); left > 0; --left)
                                   terminate("random() < 0.5");
                           },
                       .end = [] {},
                       .longest = 200ms});
        out.push_back({.name = "tables locked by another",
                       .begin =
                           [this](random&) {
                               server_.ask(
                                   "BEGIN; LOCK TABLE holdfast_head IN ACCESS EXCLUSIVE MODE; "
                                   "SELECT pg_sleep(1); COMMIT");
                           },
                       .end = [] {},
                       .longest = 200ms});
    }

    // What the server had acknowledged is gone.
    void add_losses(std::vector<fault>& out) {
        auto const add = [&](char const* name, char const* sql) {
            out.push_back({.name = name,
                           .begin = [this, sql](random&) { ask_until_done(sql); },
                           .end = [] {},
                           .forgets = true,
                           .longest = 200ms});
        };
        add("tables dropped",
            "DROP TABLE IF EXISTS holdfast_meta, holdfast_session, holdfast_head, holdfast_line; "
            "DROP SEQUENCE IF EXISTS holdfast_stamp");
        add("sessions deleted", "DELETE FROM holdfast_session WHERE random() < 0.5");
        add("names deleted", "DELETE FROM holdfast_head WHERE random() < 0.5");
        add("waiters deleted", "DELETE FROM holdfast_line WHERE random() < 0.5");
        // As a restore does, which ends all connections.
        add("sequence set back",
            "SELECT setval('holdfast_stamp', 1), pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
    }

    // Who drops tables that others use may be the one whom the server ends to resolve a deadlock.
    void ask_until_done(std::string const& sql) {
        for (;;) {
            try {
                server_.ask("BEGIN; " + sql + "; COMMIT");
                return;
            } catch (std::runtime_error const& failed) {
                if (std::string{failed.what()}.find("deadlock detected") == std::string::npos)
                    throw;
            }
        }
    }

    void terminate(std::string const& which) {
        server_.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = "
            "'client backend' AND pid <> pg_backend_pid() AND " +
            which);
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
                       .delay = 10});
        });
    }

    // Without fsync: the machine's power stays on, and what a killed server wrote, the kernel has.
    postgres_server server_{{.arguments = {"-c", "fsync=off"}}};
    std::optional<support::pgbouncer> pooler_;
    std::vector<std::unique_ptr<proxy>> networks_;
};

store_row const direct{
    "postgres", [](std::uint64_t seed) { return std::make_unique<postgres_store>(seed, false); }};
store_row const pooled{"postgres-pgbouncer", [](std::uint64_t seed) {
                           return std::make_unique<postgres_store>(seed, true);
                       }};

}  // namespace

}  // namespace holdfast::histories
