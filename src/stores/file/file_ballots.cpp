#include "stores/file/file_ballots.hpp"

#include <algorithm>

#include "stores/file/numbers.hpp"
#include "stores/file/schema.hpp"

namespace holdfast::stores::file {

// The tables are made when the first ballot comes: hardly any file ever sees one.
lease::ballot_windows file_ballots::turned_windows(seam::store_time now) {
    make_ballot_tables(file_);
    lease::ballot_windows out;
    {
        auto row = file_.query("SELECT span, recent, older, floor FROM ballot_windows");
        if (row.next())
            out = {row.integer(0), row.as<std::uint64_t>(1), row.as<std::uint64_t>(2),
                   row.as<std::uint64_t>(3)};
    }
    out.turn(now);
    return out;
}

seam::sequence file_ballots::to_exceed(seam::claim_spec const& spec, seam::store_time now) {
    auto const windows = turned_windows(now);
    auto row = file_.query("SELECT ballot FROM ballots WHERE condition = ? AND name = ?");
    bool const known = row.with(spec.kind == lock_kind::condition, spec.name).next();
    return std::max(known ? row.as<seam::sequence>(0) : seam::sequence{},
                    seam::sequence{windows.floor});
}

void file_ballots::note(seam::claim_spec const& spec, seam::sequence ballot, seam::store_time now) {
    auto windows = turned_windows(now);
    windows.note(ballot);
    file_.query("INSERT OR REPLACE INTO ballot_windows VALUES (1, ?, ?, ?, ?)")
        .with(windows.window, windows.recent, windows.older, windows.floor)
        .run();
    file_
        .query(
            "INSERT INTO ballots VALUES (?1, ?2, ?3, ?4) ON CONFLICT (condition, name)"
            " DO UPDATE SET ballot = max(ballot, ?3), until = ?4")
        .with(spec.kind == lock_kind::condition, spec.name, raw(ballot),
              count(now + lease::ballot_kept))
        .run();
}

}  // namespace holdfast::stores::file
