// A step of the family's on its way, as operations of ZooKeeper's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "stores/zookeeper/driver.hpp"

namespace holdfast::stores::zookeeper {

/// One step on its way. What an operation that fails means is known by where it stands.
struct driver::committing {
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

    void add(operation one) { operations.push_back(std::move(one)); }
    [[nodiscard]] std::string below(std::string const& child) const { return path + "/" + child; }
    [[nodiscard]] bool erases() const { return what.head && what.head->erase; }
    [[nodiscard]] bool empties() const { return erases() && what.append.empty() && !keep_node; }
};

}  // namespace holdfast::stores::zookeeper
