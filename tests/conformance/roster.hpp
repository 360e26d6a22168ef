// Which suites must exist for every row. A public header without its line fails the roster's test.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "conformance/ability.hpp"

namespace holdfast::conformance {

/// A suite, and the abilities that it needs. It runs over every row that has them; of the other rows
/// abilities_test asserts that they refuse.
struct roster_suite {
    roster_suite(char const* of_name, abilities of_needs = {})
        : name{of_name}, needs{std::move(of_needs)} {}

    std::string_view name;
    abilities needs;
};

struct roster_line {
    std::string_view header;           ///< in include/holdfast
    std::vector<roster_suite> suites;  ///< none for what holds no code
};

inline std::vector<roster_line> const roster{
    {"asio.hpp", {"asio_test", "asio_synchronizers_test", "asio_start_test"}},
    {"barrier.hpp", {{"barrier_test", {ability::barriers}}}},
    {"client.hpp", {"client_test", "urls_test", "ending_test", "fork_test"}},
    {"condition_variable.hpp", {{"condition_variable_test", {ability::conditions}}}},
    {"election.hpp", {{"election_test", {ability::elections}}}},
    {"error.hpp", {"outage_test", "abilities_test"}},
    {"export.hpp", {}},
    {"holdfast.hpp", {}},
    {"info.hpp", {"listing_test", {"deadlock_test", {ability::line}}}},
    {"latch.hpp", {{"latch_test", {ability::latches}}}},
    {"lease.hpp", {"lease_test", "tokens_test", "notifier_test"}},
    {"multi_lock.hpp", {"multi_lock_test"}},
    {"mutex.hpp",
     {"mutex_test", "recursive_mutex_test", "standard_library_test", "cancellation_test",
      "names_test", "contention_test", "scale_test"}},
    {"options.hpp",
     {"lock_options_test", "local_passes_test", {"fair_order_test", {ability::fair_order}}}},
    {"retry.hpp", {"retry_test"}},
    {"semaphore.hpp", {{"semaphore_test", {ability::semaphores}}}},
    {"shared_mutex.hpp", {{"shared_mutex_test", {ability::shared_holds}}}},
    {"version.hpp", {}},
};

}  // namespace holdfast::conformance
