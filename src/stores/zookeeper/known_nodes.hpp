// What this client knows of the nodes of names, beyond what the family knows of the names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "stores/compare/view.hpp"

namespace holdfast::stores::zookeeper {

/// How many nodes were made below one, which is the number that the next one in the line gets: versions of children count
/// removals as well. Both turn negative at half of what they can count to.
[[nodiscard]] constexpr std::uint64_t created_below(std::int32_t child_version,
                                                    std::int32_t children) noexcept {
    return (static_cast<std::uint32_t>(child_version) + static_cast<std::uint32_t>(children)) / 2U;
}

/// What tells a name's node from others, and a head from later ones.
struct known_node {
    compare::stamp written{};  ///< 0: there is no head in it
    int version{0};
    std::string life{};           ///< the child that tells it from one that was there before
    bool counted{false};          ///< the next two are known
    std::uint64_t created{0};     ///< so many nodes were made below it
    std::uint64_t last_place{0};  ///< in the line
    base::instant learned{};      ///< filled in
};

/// Thread-safety: none; the driver serialises.
class known_nodes {
public:
    /// nullptr: nothing is known, or it is not there.
    [[nodiscard]] known_node const* find(compare::name_key const& key) const;
    /// Whether there was a head so short a time ago that it will still be there.
    [[nodiscard]] bool was_taken_lately(compare::name_key const& key) const;
    void learn(compare::name_key const& key, known_node what);
    void forget(compare::name_key const& key) { all_.erase(key); }

    /// What stands in front of a letter, and what is learned from it unless more is known.
    [[nodiscard]] static std::string words(compare::name_key const& key, known_node const& node);
    void learn_from(std::string_view words, compare::stamp written);

private:
    std::map<compare::name_key, known_node> all_;
};

}  // namespace holdfast::stores::zookeeper
