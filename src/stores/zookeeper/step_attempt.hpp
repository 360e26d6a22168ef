// A step of the family's on its way, as operations of ZooKeeper's.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stores/compare/driver.hpp"
#include "stores/zookeeper/known_nodes.hpp"
#include "stores/zookeeper/paths.hpp"
#include "stores/zookeeper/session_handle.hpp"

namespace holdfast::stores::zookeeper {

/// One try after the other. What it means that an operation fails is known by where it stands.
struct step_attempt {
    enum class way {
        make,    ///< the name's node is not there, so nobody holds and nobody waits
        change,  ///< it is, as it is known
        remove,  ///< the same, and nothing is left of it
    };

    static constexpr int most_tries = 8;

    compare::ticket which{};
    compare::step what;
    std::string path{};
    way by{way::make};
    known_node node{};
    int tries{0};
    bool looked{false};                    ///< what is known of the node is fresh
    bool keep_node{false};                 ///< somebody is below it
    std::set<compare::session_id> deaf{};  ///< letters to them are left out
    std::vector<operation> operations{};
    std::size_t letters_at{0};
    std::size_t letters_end{0};
    std::size_t removal{answer::nowhere};
    std::size_t count{answer::nowhere};

    [[nodiscard]] std::string below(std::string const& child) const { return path + "/" + child; }
    [[nodiscard]] bool erases() const { return what.head && what.head->erase; }
    [[nodiscard]] bool empties() const { return erases() && what.append.empty() && !keep_node; }
    /// Whether the node's data are written.
    [[nodiscard]] bool writes() const {
        return what.head && (!what.head->erase || by != way::make);
    }

    /// Whether the session's node, which the first operation compares, is another one now or gone. What is refused for another reason says
    /// nothing of the session.
    [[nodiscard]] static bool lost_guard(answer const& from) {
        return from.failed == 0 && (from.code == ZNONODE || from.code == ZBADVERSION);
    }

    /// Fills in the operations of the next try. `version`: of the session's node; `life`: for a node that is made.
    void compose(paths const& at, int version, std::string life);

private:
    void add(operation one) { operations.push_back(std::move(one)); }
    void add_conditions(paths const& at, int version, std::string life);
    void add_head(std::string& about);
    void add_letters(paths const& at, std::string const& about);
};

}  // namespace holdfast::stores::zookeeper
