// A session: what a client's claims live and die with, on a store that compares.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "seam/request.hpp"

namespace holdfast::stores::compare {

/// Rises with every write that the store carries out, whatever is written: etcd's revision, a zxid, a
/// number drawn from a sequence. 0: there is no such thing in the store.
enum class stamp : std::uint64_t {};

/// Names one session for ever; chosen at random by the client, positive as a signed number.
enum class session_id : std::uint64_t {};

/// The stamp of a session's own record. Every step of the client names it, and a step that names an
/// older one takes no effect: raising it makes sure that nothing sent before can still happen.
using generation = stamp;

/// A session as its client knows it. One client has a session for each length of lease, which it keeps
/// alive; and, where the store has no clock, sessions that nobody keeps alive, as ends of other things.
struct own_session {
    session_id id{};
    generation current{};
    std::chrono::milliseconds lease{};  ///< as the store gave it
    seam::store_time began{};           ///< of its lease, by the last confirmed sign of life
};

/// Whether a session lives, as the store said at the time of a view. Death is for ever.
struct session_state {
    session_id id{};
    bool alive{false};
    /// When it ends unless it shows a sign of life; the epoch where the store cannot tell.
    seam::store_time expires{};
    std::string body{};  ///< what its client wrote about itself; empty unless it was asked for
};

}  // namespace holdfast::stores::compare
