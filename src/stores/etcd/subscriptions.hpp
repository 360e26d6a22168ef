// What the family wants to be told of: changes of names, and ends of sessions.
#pragma once

#include <map>
#include <vector>

#include "stores/compare/outbox.hpp"
#include "stores/etcd/connection.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/session_looks.hpp"
#include "stores/etcd/watches.hpp"

namespace holdfast::stores::etcd {

/// Thread-safety: none; the driver serialises.
/// Lifetime: all that it is made with outlives it.
class subscriptions {
public:
    subscriptions(keys const& at, connection& by, watches& over, compare::outbox& to)
        : keys_{at}, connection_{by}, watches_{over}, out_{to} {}

    void watch(compare::ticket which, compare::name_key const& key);
    void unwatch(compare::name_key const& key);
    void watch_session(compare::session_id id);
    void unwatch_session(compare::session_id id);

    /// The connection is there.
    void on_ready(base::instant now);
    /// Asks for the sessions of which it is not known whether they lived when their watch was in force, and whose time
    /// for that has come.
    void look_after_sessions(base::instant now);
    /// When there are some.
    [[nodiscard]] base::instant next_look() const noexcept;

private:
    struct watched_name {
        watches::id watch{0};
        bool in_force{false};
        std::vector<compare::ticket> waiting;
    };

    void on_session_end(compare::session_id id);

    keys const& keys_;
    connection& connection_;
    watches& watches_;
    compare::outbox& out_;
    std::map<compare::name_key, watched_name> names_;
    std::map<compare::session_id, watches::id> sessions_;
    session_looks looks_;
};

}  // namespace holdfast::stores::etcd
