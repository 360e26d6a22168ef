// What all clients of a quorum have to agree on, as each member keeps it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seam/request.hpp"

namespace holdfast::stores::quorum {

/// The members and the longest lease. Another set of members, or another size, is another quorum: its majorities need
/// not meet those of this one.
struct agreement {
    std::size_t members{0};
    std::string digest;  ///< of all members' addresses, in any order
    std::chrono::milliseconds longest_lease{0};

    [[nodiscard]] static agreement on(std::vector<std::string> addresses,
                                      std::chrono::milliseconds longest_lease);

    bool operator==(agreement const&) const = default;
};

/// The record that one member keeps.
struct member_record {
    agreement agreed;
    seam::clock_id clock{};         ///< of the server that has voted since
    seam::store_time votes_from{};  ///< it sits out until then, by its own clock
};

[[nodiscard]] std::string write(member_record const& record);
/// Nothing when it is not one.
[[nodiscard]] std::optional<member_record> read_record(std::string_view text);

/// The cell of a member in which its record is. No name that a user may lock is in its way.
[[nodiscard]] seam::cell_key record_key();

/// What is wrong when a member's record says something else than this client's URL.
[[nodiscard]] std::string disagreement_text(std::string const& member, agreement const& found,
                                            agreement const& wanted);

}  // namespace holdfast::stores::quorum
