// One request that is put to all members of a quorum.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "seam/reply.hpp"
#include "stores/quorum/member.hpp"

namespace holdfast::stores::quorum {

/// How long members have to answer what nobody waits for, and what somebody does at the least.
inline constexpr std::chrono::milliseconds patience_in_background{2000};
inline constexpr std::chrono::milliseconds least_patience{50};

/// What became of it at one member.
struct vote {
    enum class state { not_asked, pending, answered, failed };
    state is{state::not_asked};
    seam::reply_body answer{};  ///< when it was answered
    base::error why{};          ///< when it failed: down, slow or wrong
    seam::store_time now{};     ///< by the member's clock, when it was answered
    seam::clock_id clock{};     ///< that clock
    bool by_voter{false};       ///< its member had a vote when it was heard
};

/// Answers are judged as they come: whoever asked has his answer at a majority, and the rest finish in the background.
struct round {
    std::uint64_t number{0};
    std::optional<seam::request_id>
        asker{};  ///< whoever waits for the answer; nobody, once it was given
    base::instant sent{};
    std::vector<vote> votes{};
    std::function<void(round&, base::instant)> judge{};
    std::vector<owed_end>
        ends{};  ///< of a settlement: what each member owes that does not hear of it

    [[nodiscard]] std::size_t count(vote::state which) const {
        std::size_t out = 0;
        for (auto const& each : votes)
            out += each.is == which ? 1U : 0U;
        return out;
    }
    [[nodiscard]] std::size_t pending() const { return count(vote::state::pending); }
    [[nodiscard]] std::size_t answered() const { return count(vote::state::answered); }

    /// Whether the server of this clock has answered.
    [[nodiscard]] bool has_heard(seam::clock_id clock) const {
        return clock != seam::clock_id{} && std::ranges::any_of(votes, [clock](vote const& each) {
                   return each.is == vote::state::answered && each.clock == clock;
               });
    }

    template <class Body, class Wanted>
    [[nodiscard]] std::size_t count_of(Wanted wanted) const {
        std::size_t out = 0;
        for (auto const& each : votes)
            if (each.is == vote::state::answered)
                if (auto const* const body = std::get_if<Body>(&each.answer))
                    out += wanted(*body) ? 1U : 0U;
        return out;
    }
    template <class Body>
    [[nodiscard]] std::size_t count_of() const {
        return count_of<Body>([](Body const&) { return true; });
    }
};

}  // namespace holdfast::stores::quorum
