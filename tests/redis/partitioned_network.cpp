#include "redis/partitioned_network.hpp"

#include <fstream>

namespace holdfast::redis_faults {

partitioned_network::partitioned_network(std::size_t count, std::set<std::size_t> small_side) {
    std::ofstream of_small{routes(true)};
    std::ofstream of_large{routes(false)};
    for (std::size_t i = 0; i < count; ++i) {
        bool const small = small_side.contains(i);
        auto const& place = places_.emplace_back(
            support::redis_place{support::free_port(), support::free_port(), routes(small)});
        for (auto const port : {place.port, place.bus}) {
            auto const& way = crossings_.emplace_back(std::make_unique<proxy>(port, 1));
            (small ? of_large : of_small) << port << ' ' << way->port() << '\n';
        }
    }
}

void partitioned_network::stall(bool so) {
    for (auto const& each : crossings_)
        each->stall(so);
}

void partitioned_network::cut() { stall(true); }
void partitioned_network::heal() { stall(false); }

}  // namespace holdfast::redis_faults
