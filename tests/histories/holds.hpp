// holds: what the holders of a run believed, and for how long.
#pragma once

#include <string>
#include <vector>

#include "histories/history.hpp"

namespace holdfast::histories {

/// One grant, and the span for which its holder was right to count on it.
///
/// The span begins when the call returned. It ends with the last moment for which the product gave its
/// word: `held()` said true, and `remaining()` said for how long at least. It ends earlier where the
/// holder began to give the hold back, was told that it is lost, was killed, or where the store forgot
/// what it had acknowledged. A process that was stopped counts no longer than it was told before: what
/// it does afterwards is judged by the register.
struct hold {
    std::uint64_t call{0};
    std::string name{};
    histories::mode mode{mode::exclusive};
    std::int64_t permits{1};
    std::uint64_t token{0};
    std::int16_t worker{-1};
    std::uint16_t incarnation{0};
    instant asked{0};
    instant granted{0};  ///< when the call had returned
    instant from{0};     ///< the span; empty unless `from` is before `until`
    instant until{0};
    instant believed{0};     ///< when held() was last asked and said true, 0 for never
    instant promised{0};     ///< until when remaining() said that it lasts
    instant disbelieved{0};  ///< when held() had said false for the first time, 0 for never
    instant weakened{0};     ///< when it began to be a shared one, 0 for never
    instant releasing{0};    ///< when it began to be given back, 0 for never
    instant released{0};     ///< when the answer was there
    instant left{0};         ///< what remaining() said then
    histories::outcome outcome{outcome::none};
};

/// The spans in which the store forgot what it had acknowledged.
[[nodiscard]] std::vector<event> lapses_of(history const& all);
/// The spans in which holds may have been lost before their leases were over: these, and others.
[[nodiscard]] std::vector<event> early_ends_of(history const& all);

/// Whether any of them lies between the two.
[[nodiscard]] bool forgot_between(std::vector<event> const& lapses, instant from, instant until);

/// All grants of locks, permits and terms, in the order of `granted`. One that became weaker on its way is
/// two: an exclusive one and a shared one with the same call.
[[nodiscard]] std::vector<hold> holds_of(history const& all);

/// Whether exclusion is judged for this name.
[[nodiscard]] bool is_judged(std::string_view name);

}  // namespace holdfast::histories
