// Reads of any number of ranges, in as few requests as etcd allows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stores/etcd/connection.hpp"

namespace holdfast::stores::etcd {

using ranges = std::vector<wire::RangeRequest>;
using answers = std::vector<wire::RangeResponse>;
/// `term`: of the leader who answered, 0 when there were several.
using reader = std::function<void(fault const& trouble, answers& found, std::uint64_t term)>;

/// `then` is called once; at once, when nothing is asked for.
void read(connection& by, ranges what, reader then);

}  // namespace holdfast::stores::etcd
