// Which suites must exist for every store. A public header without its row fails the roster's test.
#pragma once

#include <string_view>
#include <vector>

namespace holdfast::conformance {

struct roster_row {
    std::string_view header;  ///< in include/holdfast
    std::vector<std::string_view>
        suites;  ///< each runs over all stores; none for what holds no code
};

inline std::vector<roster_row> const roster{
    {"asio.hpp", {"asio_test", "asio_synchronizers_test", "asio_start_test"}},
    {"barrier.hpp", {"barrier_test"}},
    {"client.hpp", {"client_test", "urls_test", "ending_test", "fork_test"}},
    {"condition_variable.hpp", {"condition_variable_test"}},
    {"election.hpp", {"election_test"}},
    {"error.hpp", {"outage_test"}},
    {"export.hpp", {}},
    {"holdfast.hpp", {}},
    {"info.hpp", {"listing_test", "deadlock_test"}},
    {"latch.hpp", {"latch_test"}},
    {"lease.hpp", {"lease_test", "tokens_test", "notifier_test"}},
    {"multi_lock.hpp", {"multi_lock_test"}},
    {"mutex.hpp",
     {"mutex_test", "recursive_mutex_test", "standard_library_test", "cancellation_test",
      "names_test", "contention_test", "scale_test"}},
    {"options.hpp", {"lock_options_test", "local_passes_test", "fair_order_test"}},
    {"retry.hpp", {"retry_test"}},
    {"semaphore.hpp", {"semaphore_test"}},
    {"shared_mutex.hpp", {"shared_mutex_test"}},
};

}  // namespace holdfast::conformance
