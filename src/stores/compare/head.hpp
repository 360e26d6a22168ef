// A head: who holds a name, its cells and limits, as the family writes it into a store.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include "stores/compare/view.hpp"
#include "stores/lease/ledger.hpp"

namespace holdfast::stores::compare {

/// A sequence that is not known before its step is carried out: the n-th of those drawn in it.
[[nodiscard]] constexpr seam::sequence symbolic(std::uint32_t index) noexcept {
    return seam::sequence{std::uint64_t{1} << 63U | index};
}
[[nodiscard]] constexpr bool is_symbolic(seam::sequence number) noexcept {
    return static_cast<std::uint64_t>(number) >> 63U != 0;
}
/// So many can be drawn in one step, and so far apart are the first of two steps.
inline constexpr std::uint32_t sequences_per_step = 32;

/// The sequence as it is once the step got its stamp.
[[nodiscard]] constexpr seam::sequence resolved(seam::sequence number, stamp written) noexcept {
    if (!is_symbolic(number)) return number;
    auto const index = static_cast<std::uint64_t>(number) & ~(std::uint64_t{1} << 63U);
    return seam::sequence{static_cast<std::uint64_t>(written) * sequences_per_step + index};
}

/// When something ends that no session of its owner keeps alive: a time, where the store has a clock;
/// else a session that nobody keeps alive. Neither: it does not end by itself.
struct due {
    seam::store_time at{};
    session_id session{};

    bool operator==(due const&) const = default;
};

/// The times that a record is read and written at. What is only shown to people is written by a clock that
/// clients have in common.
struct moment {
    seam::store_time now{};
    seam::store_time shown{};  ///< `now`, by that clock
};

/// A claim as the family keeps it: the rules' entry, and what it lives and dies with.
struct claim_record : lease::entry {
    session_id session{};
    std::uint64_t secret{0};  ///< by which its client knows letters about it
    due end{};                ///< of a kept one
    std::uint64_t place{0};   ///< in the line
    bool stored{false};       ///< it stands in the store's line
};

struct cell_state : lease::cell_record {
    due end{};
};

/// What a head says. The numbers of the record that can be counted are not in it.
struct head_state {
    lease::name_record record;
    due limit_kept{};  ///< of `record.keep_until`
    std::list<claim_record> holders;
    std::map<std::string, cell_state, std::less<>> cells;  ///< by part
};

/// The body. Entries' times are by `when`; sequences that are not known yet stay symbolic in it.
[[nodiscard]] std::string write_head(head_state const& head, moment when);

/// `written` is the stamp of the head, which makes its symbolic sequences known. Throws when it cannot be
/// read. Times of ends are the caller's to fill in.
[[nodiscard]] head_state read_head(name_key const& key, std::string_view body, stamp written,
                                   moment when);

/// The body of one in the line.
[[nodiscard]] std::string write_waiter(claim_record const& waiter, moment when);
[[nodiscard]] claim_record read_waiter(name_key const& key, line_item const& item, moment when);

/// Which sessions a head names, those that are ends included; each once.
[[nodiscard]] std::vector<session_id> sessions_of(head_state const& head);

}  // namespace holdfast::stores::compare
