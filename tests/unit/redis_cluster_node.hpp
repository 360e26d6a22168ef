// A Cluster of one node, which answers calls of scripts as the test says.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "support/raw_server.hpp"
#include "unit/redis_command_reader.hpp"

namespace holdfast::test {

/// Thread-safety: every member may be called from any thread at once.
class redis_cluster_node {
public:
    /// What is said to a call, such as "submit a". May be called by several threads, one for each connection.
    using conduct =
        std::function<std::string(std::string const& call, support::raw_socket const& from)>;

    explicit redis_cluster_node(conduct how) : conduct_{std::move(how)} {}

    [[nodiscard]] std::string address() const {
        return "127.0.0.1:" + std::to_string(server_.port());
    }
    [[nodiscard]] std::string url(std::string const& options = {}) const {
        return "redis+cluster://" + address() + options;
    }

private:
    void serve(support::raw_socket const& from) const {
        stores::redis::command_reader in;
        for (auto bytes = from.receive(); !bytes.empty(); bytes = from.receive()) {
            in.feed(bytes);
            for (auto const& each : in.take())
                from.send(answer(each, from));
        }
    }

    [[nodiscard]] std::string answer(std::string const& what,
                                     support::raw_socket const& from) const {
        if (what == "CLUSTER")
            return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" +
                   std::to_string(server_.port()) + "\r\n";
        if (what == "TIME") return "*2\r\n$1\r\n1\r\n$1\r\n0\r\n";
        if (what == "INFO" || what == "ROLE" || what == "SCRIPT") return "-ERR not known\r\n";
        if (what == "CLIENT" || what == "ASKING" || what.starts_with("load ")) return "+OK\r\n";
        return conduct_(what, from);
    }

    conduct conduct_;
    support::raw_server server_{[this](support::raw_socket const& from) { serve(from); }};
};

}  // namespace holdfast::test
