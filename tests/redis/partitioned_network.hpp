// A network that can be cut in two.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/proxy.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::redis_faults {

/// Servers on two sides of it. Whoever has the routes of a side reaches the servers of that side directly and all others
/// by a proxy, which passes everything on until the network is cut. Not thread-safe.
class partitioned_network {
public:
    /// So many servers; those with these numbers are on the small side.
    partitioned_network(std::size_t count, std::set<std::size_t> small_side);

    /// For the servers.
    [[nodiscard]] std::vector<support::redis_place> const& places() const noexcept {
        return places_;
    }
    [[nodiscard]] std::string routes_of_small_side() const { return routes(true); }
    [[nodiscard]] std::string routes_of_large_side() const { return routes(false); }

    /// Nothing passes any more between the sides, and nobody is told.
    void cut();
    /// What was sent meanwhile arrives late.
    void heal();

private:
    [[nodiscard]] std::string routes(bool small) const {
        return (place_.path() / (small ? "small" : "large")).string();
    }
    void stall(bool so);

    support::temporary_directory place_;
    std::vector<support::redis_place> places_;
    std::vector<std::unique_ptr<proxy>> crossings_;
};

}  // namespace holdfast::redis_faults
