// The messages of etcd, under a short name, and small questions about them.
#pragma once

#include <cstdint>
#include <string>

#include <protocol.pb.h>  // made of protocol.proto

#include "stores/compare/session.hpp"

namespace holdfast::stores::etcd {

namespace wire = ::holdfast_etcd;

/// etcd counts in signed numbers; none of ours is above 2^63.
[[nodiscard]] inline std::int64_t lease_of(compare::session_id id) noexcept {
    return static_cast<std::int64_t>(id);
}
[[nodiscard]] inline compare::session_id session_of(std::int64_t lease) noexcept {
    return static_cast<compare::session_id>(lease);
}
[[nodiscard]] inline std::int64_t revision_of(compare::stamp at) noexcept {
    return static_cast<std::int64_t>(at);
}
[[nodiscard]] inline compare::stamp stamp_of(std::int64_t revision) noexcept {
    return static_cast<compare::stamp>(revision);
}

}  // namespace holdfast::stores::etcd
