// A step: what a store that compares does at once, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stores/compare/view.hpp"

namespace holdfast::stores::compare {

/// What becomes of a head.
struct head_write {
    bool erase{false};
    std::string body{};
    std::vector<session_id> sessions{};  ///< whom the body names
    /// The head ends with this session by itself. Only where nothing else is in it; a driver whose store
    /// cannot do that reports the session as dead instead.
    std::optional<session_id> bound{};
    bool announced{true};  ///< those who watch the name are told
};

/// A message of printable ASCII to the client of a session, at most one for each session in a step, delivered with the stamp of its step. It may be lost together
/// with the connection by which the client hears (`driver_events::on_gap`), else it is not.
struct letter {
    session_id to{};
    std::string body;
};

/// A sequence that somebody else has chosen for what a step grants.
struct proposal {
    seam::sequence number{};
    bool compared{true};  ///< it is a condition that the number is above all that were granted
};

/// One step on one name, in one round trip.
///
/// The guard is looked at first: without it nothing happens, in either branch. Then the conditions: with
/// all of them the first branch is carried out, as a whole; otherwise the second one.
struct step {
    name_key key;

    /// The client's own session, alive and of this generation. No step that names an older generation may
    /// take effect once a `raise` was answered, wherever it was delayed on its way.
    session_id self{};
    generation of{};
    /// Takes no effect later than this, by the store's clock; ignored by a driver without one.
    std::optional<seam::store_time> not_after{};

    /// The head's stamp; 0: there is no head.
    stamp expected{};
    /// These claims still stand in the line, at their places. Of two steps at once that let one leave, one
    /// fails.
    std::vector<line_item> present{};
    /// Nothing stands in the line behind this place (0: nobody is in the line at all). Where a store
    /// cannot compare that within the step, it looks again afterwards and tells in `committed::behind`.
    std::optional<std::uint64_t> nobody_behind{};
    /// Where that is set: the places of all who were seen in the line. A store that gives a place before others can
    /// see who has it requires that nobody stands at any other one, before or behind.
    std::vector<std::uint64_t> seen_places{};
    /// Above the last one of the name, which it becomes, and above those of names that are not remembered any more.
    /// Only in a step that writes the head, and only where the driver takes ballots.
    std::optional<proposal> ballot{};

    std::optional<head_write> head{};
    std::vector<line_item> leave{};   ///< these leave the line
    std::vector<line_item> append{};  ///< these join it; their places are given by the store
    std::vector<letter> letters{};

    /// The second branch: these join the line, unless they stand there already, and then the name is looked
    /// at, from after they have joined for all to see.
    std::vector<line_item> append_otherwise{};
    name_query otherwise{};
};

/// The first branch was carried out.
struct committed {
    stamp written{};               ///< of this step; also of the letters and of the head
    std::optional<view> behind{};  ///< somebody joined unseen: the name as it was right afterwards
    std::vector<std::uint64_t> places{};  ///< of those who were appended, where the store tells
};

/// The second branch was.
struct missed {
    view found;
};

/// The guard did not hold: the session is dead or has another generation, or it was too late. Nothing happened,
/// and nothing of this step will.
struct fenced {
    bool too_late{false};
};

}  // namespace holdfast::stores::compare
