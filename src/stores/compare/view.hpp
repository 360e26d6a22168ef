// What a store that compares keeps of a name, and how it is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stores/compare/session.hpp"

namespace holdfast::stores::compare {

/// A name as the store knows it. Conditions live beside the other kinds.
struct name_key {
    std::string name;
    bool condition{false};

    auto operator<=>(name_key const&) const = default;
};

/// One claim that waits. It belongs to the line of its name, in the order of arrival, and it is gone, or
/// reported as dead, when its session is.
struct line_item {
    seam::claim_id id{};
    session_id session{};
    std::uint64_t place{0};  ///< rises with arrival; given by the store
    std::string body{};
    std::uint64_t arrival{0};  ///< the same over all names; 0 where places already are
};

/// A name at one moment: its head and the beginning of its line. The head says who holds and what else
/// is known of the name; its body means nothing to a driver.
struct view {
    name_key key;
    stamp written{};     ///< of the head; 0: there is none
    std::string body{};  ///< of the head
    std::vector<line_item> line{};
    bool more{false};                 ///< others stand behind them
    std::vector<line_item> others{};  ///< of those, the claims that were asked for
    /// Of the sessions that the head names (`head_write::sessions`), and of those in the line and in the
    /// query, as far as they were looked up; a session that is not here is unknown.
    std::vector<session_state> sessions{};
    /// Where it was asked for: what a ballot has to exceed. It never sinks.
    seam::sequence ballot{};
};

/// Which part of a name is asked for.
struct name_query {
    static constexpr std::uint32_t whole_line = 0xffffffff;

    name_key key;
    std::vector<seam::claim_id> claims{};  ///< these too, wherever they stand in the line
    std::uint32_t line{8};                 ///< at most so many of the line
    std::vector<session_id> sessions{};    ///< these too
    /// With the bodies of the sessions, and with those whom the head names.
    bool bodies{false};
    /// With what a ballot for the name has to exceed. Only where the driver takes ballots.
    bool ballot{false};
};

/// What is in the store under certain names; -> views, one for each, in order.
struct query {
    std::vector<name_query> names;
};

/// Which names there are; -> names, in the order of their bytes. Names of either kind are listed once.
struct listing {
    std::string prefix;
    std::string after{};  ///< only names behind it
    std::uint32_t most{200};
    bool waited_for{false};  ///< only those with a line
};

}  // namespace holdfast::stores::compare
