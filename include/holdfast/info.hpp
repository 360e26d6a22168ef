// What a store knows of its names: for listings, never for decisions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {

/// What a name is used as. A name has one kind while it lives.
enum class lock_kind { lock, semaphore, latch, barrier, condition, election };

/// How a claim wants its name.
enum class claim_mode { exclusive, shared, permits };

/// "lock", "semaphore", …; "exclusive", "shared", "permits".
HOLDFAST_EXPORT char const* to_string(lock_kind kind) noexcept;
HOLDFAST_EXPORT char const* to_string(claim_mode mode) noexcept;

/// One holder or waiter.
struct claim_info {
    std::uint64_t token{0};  ///< 0 while waiting
    claim_mode mode{claim_mode::exclusive};
    std::string owner{};  ///< the explicit owner, else the client and thread that asked
    std::string label{};
    std::string host{};
    std::int64_t pid{0};
    std::chrono::milliseconds age{0};         ///< since the grant, or since the waiter arrived
    std::chrono::milliseconds lease_left{0};  ///< until it ends unless renewed
    std::string id{};                         ///< for `client::evict`
    std::uint32_t permits{1};
    std::string value{};  ///< what a candidate of an election says of itself
    bool local{false};    ///< waits in the line inside this client, unknown to the store
    /// Of two who wait at one store, under any names, the one that came later has the higher one. Of a holder: rises
    /// with the time of the grant.
    std::uint64_t arrival{0};
    /// Of a holder: it was released early under a minimum hold. It is nobody's, but in the way for `lease_left`.
    bool kept{false};
};

/// One name with its holders and its waiters in the order in which they will be served.
struct lock_info {
    std::string name{};
    lock_kind kind{lock_kind::lock};
    std::vector<claim_info> holders{};
    std::vector<claim_info> waiters{};
    /// A semaphore's current limit, a latch's first count, a barrier's parties; 0 for others.
    std::uint64_t limit{0};
    std::uint64_t count{0};       ///< what is left of a latch; how many wait at a barrier
    std::uint64_t generation{0};  ///< of a barrier
    bool broken{false};           ///< a barrier that waits for its reset
};

/// One step of a cycle of waiting owners: `waiter` wants `name`, which the next one holds or will
/// have before it.
struct deadlock_step {
    std::string name{};
    claim_info waiter{};
};

/// The cycles of owners who wait for each other, in what `client::locks()` returned. Nodes are
/// explicit owners, else the threads that asked with `lock_options::detect_deadlock` or fairly;
/// threads that hand a name on among themselves cannot be told apart, and are left out.
[[nodiscard]] HOLDFAST_EXPORT std::vector<std::vector<deadlock_step>> find_deadlocks(
    std::vector<lock_info> const& names);

}  // namespace v1
}  // namespace holdfast
