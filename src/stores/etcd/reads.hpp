// Reads of any number of ranges, in as few requests as etcd allows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stores/etcd/connection.hpp"

namespace holdfast::stores::etcd {

using range_requests = std::vector<wire::RangeRequest>;
using range_responses = std::vector<wire::RangeResponse>;
/// `term`: of the leader who answered, 0 when there were several.
using reader =
    std::function<void(fault const& trouble, range_responses& found, std::uint64_t term)>;

/// `then` is called once; at once, when nothing is asked for.
void read(connection& by, range_requests what, reader then);

}  // namespace holdfast::stores::etcd
