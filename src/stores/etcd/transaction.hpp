// A step as one transaction of etcd.
#pragma once

#include <cstddef>
#include <optional>

#include "stores/compare/step.hpp"
#include "stores/etcd/keys.hpp"
#include "stores/etcd/look.hpp"
#include "stores/etcd/wire.hpp"

namespace holdfast::stores::etcd {

/// Guard and conditions, then the first branch; otherwise a transaction inside it, with the guard
/// alone before the second one.
[[nodiscard]] wire::TxnRequest transaction_of(compare::step const& what, keys const& at);

/// How a transaction ended.
struct stepped {
    enum class branch { first, second, none };
    branch taken{branch::none};
    compare::committed committed{};
    looked seen{};
};
/// Nothing when it is not the answer to such a transaction.
[[nodiscard]] std::optional<stepped> read_step(compare::step const& what,
                                               wire::TxnResponse const& from, keys const& at);

/// One transaction that only reads.
[[nodiscard]] wire::TxnRequest reading(std::span<wire::RangeRequest const> ranges);
/// Whether it is the answer to one that read so many.
[[nodiscard]] bool has_ranges(wire::TxnResponse const& from, std::size_t count);

/// The session has this record now; unless it has one already, which is then told instead.
[[nodiscard]] wire::TxnRequest opening(compare::session_id id, std::string body, keys const& at);
/// Of that record; nothing when it is not the answer to that.
[[nodiscard]] std::optional<compare::generation> generation_of(wire::TxnResponse const& from);
/// The session's record is written anew, if it is there.
[[nodiscard]] wire::TxnRequest raising(compare::session_id id, keys const& at);

}  // namespace holdfast::stores::etcd
