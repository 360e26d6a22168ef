// What the family wants to be told of: changes of names, and ends of sessions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "stores/zookeeper/common_session.hpp"

namespace holdfast::stores::zookeeper {

/// Thread-safety: none; the driver serialises.
class subscriptions {
public:
    subscriptions(context& with, common_session& by) : with_{with}, common_{by} {}

    void watch(compare::ticket which, compare::name_key const& key);
    void unwatch(compare::name_key const& key);
    void watch_session(compare::session_id id);
    void unwatch_session(compare::session_id id);

    /// What time brings, and a connection that is there again.
    void tend(base::instant now);
    /// The watches are gone.
    void renew();
    [[nodiscard]] base::instant due() const noexcept;

private:
    struct watched_name {
        bool in_force{false};
        std::vector<compare::ticket> waiting{};
        std::optional<Stat> seen{};  ///< when it was last watched; none: it was not there
    };

    void watch_head(compare::name_key const& key);
    void on_watched(compare::name_key const& key, answer const& from);
    void look_at(compare::session_id id);
    void on_session(compare::session_id id, answer const& from);
    void on_session_end(compare::session_id id);

    context& with_;
    common_session& common_;
    std::map<compare::name_key, watched_name> names_;
    std::set<compare::name_key> to_watch_;                   ///< again, when there is a connection
    std::map<compare::session_id, base::instant> sessions_;  ///< and when to look again
};

}  // namespace holdfast::stores::zookeeper
