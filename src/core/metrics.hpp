// Counters of one client: what happens, what should be rare, and what must never happen.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace holdfast::core {

struct metrics {
    std::uint64_t acquires{0};           ///< calls begun
    std::uint64_t grants{0};             ///< holds begun, passes included
    std::uint64_t passes{0};             ///< holds handed on inside this client
    std::uint64_t busy{0};               ///< calls that ended without the hold
    std::uint64_t failures{0};           ///< calls that ended with an error
    std::uint64_t releases{0};           ///< holds given back in time
    std::uint64_t losses{0};             ///< holds lost
    std::uint64_t requests{0};           ///< sent to the store
    std::uint64_t requests_failed{0};    ///< unanswered or refused by a broken store
    std::uint64_t renewals{0};           ///< confirmed
    std::uint64_t doubts{0};             ///< holds that went into doubt
    std::uint64_t late_grants{0};        ///< grants that came too late to be used as they were
    std::uint64_t orphans{0};            ///< claims found at the store after they were given up
    std::uint64_t tokens_not_rising{0};  ///< must never happen

    [[nodiscard]] std::map<std::string, std::uint64_t> by_name() const {
        return {{"acquires", acquires},
                {"grants", grants},
                {"passes", passes},
                {"busy", busy},
                {"failures", failures},
                {"releases", releases},
                {"losses", losses},
                {"requests", requests},
                {"requests_failed", requests_failed},
                {"renewals", renewals},
                {"doubts", doubts},
                {"late_grants", late_grants},
                {"orphans", orphans},
                {"tokens_not_rising", tokens_not_rising}};
    }
};

}  // namespace holdfast::core
