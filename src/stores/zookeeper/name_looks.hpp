// Looks at names: the node, those in line, and the sessions of both.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stores/zookeeper/common_session.hpp"
#include "stores/zookeeper/known_nodes.hpp"

namespace holdfast::stores::zookeeper {

/// Thread-safety: none; the driver serialises.
class name_looks {
public:
    struct looked {
        fault trouble{};
        compare::view found{};
    };
    using reader = std::function<void(looked&)>;

    name_looks(context& with, common_session& by, known_nodes& known)
        : with_{with}, common_{by}, known_{known} {}

    void fetch(compare::ticket which, compare::query what);
    /// One name; what is found of its node is learned. Whoever serves the common session may lag behind others.
    /// `own`: these have just joined the line, in sessions that live.
    void look(compare::name_query what, reader then, std::vector<compare::line_item> own = {});

private:
    struct looking;

    void look(std::shared_ptr<looking> const& state);
    void read_node(looking& state, std::vector<std::string> const& nodes);
    void look_closer(std::shared_ptr<looking> const& state);
    [[nodiscard]] static bool know_already(looking& state, std::size_t child);
    void look_at_session(std::shared_ptr<looking> const& state, compare::session_id id);
    void advance(std::shared_ptr<looking> const& state);

    context& with_;
    common_session& common_;
    known_nodes& known_;
};

}  // namespace holdfast::stores::zookeeper
