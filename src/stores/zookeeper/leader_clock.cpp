#include "stores/zookeeper/leader_clock.hpp"

#include "base/text.hpp"

namespace holdfast::stores::zookeeper {

base::instant leader_clock::end_of(answer const& node) const {
    using std::chrono::milliseconds;
    if (node.code != ZOK || node.stat.ephemeralOwner != 0) return base::never;
    auto const span = base::parse_number(node.data);
    if (!span) return base::never;
    auto const left =
        milliseconds{node.stat.ctime} + milliseconds{static_cast<std::int64_t>(*span)} - shown_;
    return base::after(noted_, left);
}

}  // namespace holdfast::stores::zookeeper
