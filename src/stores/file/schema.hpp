// The tables of a store file, and what must be true of a file before it is used.
#pragma once

#include <cstdint>
#include <string>

#include "seam/request.hpp"
#include "stores/file/database.hpp"

namespace holdfast::stores::file {

/// Names the clock by which the times in a file were taken: CLOCK_BOOTTIME of one boot, as seen in
/// one time namespace.
struct clock_identity {
    std::string boot;
    std::int64_t time_namespace{0};

    /// That of this process. Throws errc::unsupported when it cannot be told.
    [[nodiscard]] static clock_identity here();

    bool operator==(clock_identity const&) const = default;
};

/// Refuses a file that is somebody else's or of a newer version; true when it is empty and new.
/// Changes nothing.
[[nodiscard]] bool is_blank(database& file);

/// Makes the tables of a new file, within a transaction.
void create_tables(database& file, clock_identity const& clock);

/// Makes what ballots are kept in, unless it is there; within a transaction.
void make_ballot_tables(database& file);
/// Removes ballots of names that need not be remembered any more; within a transaction.
void sweep_ballots(database& file, seam::store_time now);

/// The clock of the file's times.
[[nodiscard]] clock_identity clock_of(database& file);

/// Begins anew by another clock: nobody who held or waited under the former one is there any more.
/// Cells and changed limits stay and their time to live begins again, since nobody knows how much
/// of it has passed. A minimum hold stays where its times may be of the present clock, since the boot
/// id may be all that differs; then not much more than that minimum can be left of it. Sequences go
/// on. Within a transaction.
void begin_anew(database& file, clock_identity const& clock, seam::store_time now);

}  // namespace holdfast::stores::file
