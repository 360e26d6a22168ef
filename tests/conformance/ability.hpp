// What a row of the suite may be unable to do. Everything else every store must.
#pragma once

#include <array>
#include <set>
#include <string_view>

namespace holdfast::conformance {

enum class ability {
    processes,         ///< clients of several processes meet in it; `kill_holder` works
    silence,           ///< it can fall silent; `silence` and `restore` work
    clients_in_forks,  ///< a child of fork() may make a client of its own
    lasting_tokens,    ///< tokens rise even over a new installation of the store
    line,  ///< who waits is listed, is told of a release, and closes cycles that are reported
    holder_details,  ///< listings tell label, host, process and age of a holder
    any_name,        ///< else names with braces are `bad_name`
    fair_order,
    shared_holds,
    joint_owners,  ///< an explicit owner may hold from several clients
    semaphores,
    latches,
    barriers,
    conditions,
    elections,
};

using abilities = std::set<ability>;

inline constexpr std::array all_abilities{
    ability::processes,      ability::silence,    ability::clients_in_forks,
    ability::lasting_tokens, ability::line,       ability::holder_details,
    ability::any_name,       ability::fair_order, ability::shared_holds,
    ability::joint_owners,   ability::semaphores, ability::latches,
    ability::barriers,       ability::conditions, ability::elections,
};

/// As it stands in the enumeration: also the name of the test in abilities_test.cpp.
[[nodiscard]] std::string_view to_string(ability which);

}  // namespace holdfast::conformance
