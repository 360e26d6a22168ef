// mysql: a private MariaDB, and one bad network for each worker.
#include <sstream>

#include "histories/store.hpp"
#include "support/mysql_server.hpp"
#include "support/proxy.hpp"

namespace holdfast::histories {

namespace {

using namespace std::chrono_literals;
using redis_faults::proxy;
using support::mysql_server;

class mysql_store final : public store {
public:
    explicit mysql_store(std::uint64_t seed) {
        for (int i = 0; i < workers(); ++i)
            networks_.push_back(
                std::make_unique<proxy>(server_.port(), seed + static_cast<std::uint64_t>(i)));
    }
    ~mysql_store() override { server_.resume(); }

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
            "SELECT CONCAT('the session ', id, ', which does not end') FROM holdfast_session WHERE "
            "expires > UNIX_TIMESTAMP(NOW(6)) * 1000000 + lease * 1000 UNION ALL SELECT "
            "CONCAT('a transaction since ', trx_started) FROM information_schema.innodb_trx WHERE "
            "trx_started < NOW() - INTERVAL 5 SECOND UNION "
            "ALL SELECT CONCAT('the connection ', id) FROM information_schema.processlist WHERE db "
            "= 'holdfast' AND id <> CONNECTION_ID()")};
        for (std::string line; std::getline(found, line);)
            if (!line.empty()) out.push_back(line);
        return out;
    }

private:
    [[nodiscard]] static std::string address(std::uint16_t port) {
        return "mysql://root@127.0.0.1:" + std::to_string(port) + "/holdfast?timeout=1s" +
               url_options(true);
    }

    void add_server_faults(std::vector<fault>& out) {
        out.push_back({.name = "server stopped",
                       .begin = [this](random&) { server_.stop(); },
                       .end = [this] { server_.resume(); }});
        out.push_back({.name = "server killed",
                       .begin = [this](random&) { server_.kill(); },
                       .end = [this] { server_.start(); }});
        out.push_back({.name = "all connections killed",
                       .begin = [this](random&) { kill_all("CONNECTION", 1); },
                       .end = [] {},
                       .longest = 200ms});
        out.push_back({.name = "some connections and requests killed again and again",
                       .begin =
                           [this](random& chance) {
                               for (auto left = 3 + chance.below(5); left > 0; --left)
                                   kill_all(chance.once_in(2) ? "CONNECTION" : "QUERY", 2);
                           },
                       .end = [] {},
                       .longest = 200ms});
        out.push_back(
            {.name = "tables locked by another",
             .begin =
                 [this](random&) {
                     server_.ask("LOCK TABLES holdfast_head WRITE; SELECT SLEEP(1); UNLOCK TABLES");
                 },
             .end = [] {},
             .longest = 200ms});
        out.push_back({.name = "read-only",
                       .begin = [this](random&) { server_.ask("SET GLOBAL read_only = 1"); },
                       .end = [this] { server_.ask("SET GLOBAL read_only = 0"); }});
    }

    // What the server had acknowledged is gone.
    void add_losses(std::vector<fault>& out) {
        auto const add = [&](char const* name, char const* sql) {
            out.push_back({.name = name,
                           .begin = [this, sql](random&) { server_.ask(sql); },
                           .end = [] {},
                           .forgets = true,
                           .longest = 200ms});
        };
        add("tables dropped",
            "DROP TABLE IF EXISTS holdfast_meta, holdfast_session, holdfast_head, holdfast_line, "
            "holdfast_mail; "
            "DROP SEQUENCE IF EXISTS holdfast_stamp");
        add("sessions deleted", "DELETE FROM holdfast_session WHERE RAND() < 0.5");
        add("names deleted", "DELETE FROM holdfast_head WHERE RAND() < 0.5");
        add("waiters deleted", "DELETE FROM holdfast_line WHERE RAND() < 0.5");
        add("letters deleted", "DELETE FROM holdfast_mail WHERE RAND() < 0.5");
    }

    // One in so many of those that there are.
    void kill_all(std::string const& what, int one_in) {
        std::istringstream ids{server_.ask(
            "SELECT id FROM information_schema.processlist WHERE db = 'holdfast' AND id "
            "<> CONNECTION_ID() AND RAND() * " +
            std::to_string(one_in) + " < 1")};
        for (std::string id; ids >> id;)
            try {
                server_.ask("KILL " + what + " " + id);
            } catch (std::runtime_error const&) {  // it has gone by itself
            }
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

    mysql_server server_;
    std::vector<std::unique_ptr<proxy>> networks_;
};

store_row const direct{"mysql",
                       [](std::uint64_t seed) { return std::make_unique<mysql_store>(seed); }};

}  // namespace

}  // namespace holdfast::histories
