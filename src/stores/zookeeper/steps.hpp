// Steps: several operations that ZooKeeper carries out together, or not at all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stores/zookeeper/living_sessions.hpp"
#include "stores/zookeeper/name_looks.hpp"
#include "stores/zookeeper/sent_claims.hpp"
#include "stores/zookeeper/step_attempt.hpp"

namespace holdfast::stores::zookeeper {

/// A name's node is compared by its version and by the node below it that tells it from one that was there before: versions begin
/// anew with each node. What is known of the node may be old; then it is looked at, and tried again.
///
/// Thread-safety: none; the driver serialises.
class steps {
public:
    steps(context& with, common_session& by, known_nodes& known, name_looks& looks,
          living_sessions& sessions)
        : with_{with}, common_{by}, known_{known}, looks_{looks}, sessions_{sessions} {}

    void commit(compare::ticket which, compare::step what);

private:
    using attempt = std::shared_ptr<step_attempt>;

    void begin(attempt const& state);
    void try_first(attempt const& state);
    void on_tried(attempt const& state, answer const& from);
    void on_committed(step_attempt& state, answer const& from);
    void on_refused(attempt const& state, answer const& from);
    void look_again(attempt const& state);

    /// The second branch.
    void do_second(attempt const& state, bool make_node);
    void join(attempt const& state, bool make_node, std::vector<std::string> const& nodes);
    void look_and_tell(attempt const& state);

    void tell_fenced(attempt const& state) { with_.tell(state->which, compare::fenced{}); }

    context& with_;
    common_session& common_;
    known_nodes& known_;
    name_looks& looks_;
    living_sessions& sessions_;
    sent_claims appended_;
};

}  // namespace holdfast::stores::zookeeper
