// Signs of life: what one member said to them, and what a majority says to that.
#pragma once

#include <cstdint>
#include <vector>

#include "stores/compare/driver.hpp"
#include "stores/etcd/wire.hpp"

namespace holdfast::stores::etcd {

/// The term under which the parts of something were answered; 0 when there were several.
class shared_term {
public:
    constexpr void note(std::uint64_t term) noexcept {
        value_ = !any_ || value_ == term ? term : 0;
        any_ = true;
    }
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

private:
    bool any_{false};
    std::uint64_t value_{0};
};

/// What came of one session's sign of life. Whoever takes itself for the leader answers alone, by what it knows.
struct sign_of_life {
    compare::session_id id{};
    bool renewed{false};    ///< it has such a lease
    std::uint64_t term{0};  ///< under which it said so
};

/// Of each session, in order, from the answers to their leases, which may be fewer.
[[nodiscard]] std::vector<sign_of_life> signs_of(
    std::vector<compare::session_id> const& sessions,
    std::vector<wire::LeaseKeepAliveResponse> const& answers);

/// What is true of the session, when a majority was asked for its record afterwards. `there`: it was found; `term`:
/// under which that was said.
///
/// The record hangs on the lease and is gone with it, so only its absence proves a death: a leader that was cut off, or has
/// not carried out yet what it was elected with, says of a lease that lives that there is none. And only a majority that
/// follows the same leader proves a life: another one counts the lease from another moment.
[[nodiscard]] compare::kept::state judge(sign_of_life const& sign, bool there, std::uint64_t term);

}  // namespace holdfast::stores::etcd
