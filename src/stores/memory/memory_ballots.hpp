// The ballots that a memory store remembers.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "stores/lease/ballot_memory.hpp"
#include "stores/lease/ballot_windows.hpp"

namespace holdfast::stores::memory {

/// Thread-safety: none; it belongs to the ledger.
class memory_ballots final : public lease::ballot_memory {
public:
    seam::sequence to_exceed(seam::claim_spec const& spec, seam::store_time now) override;
    void note(seam::claim_spec const& spec, seam::sequence ballot, seam::store_time now) override;

    /// Forgets those of names that the windows remember from now on.
    void drop(seam::store_time now);
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

private:
    struct key {
        bool condition;
        std::string name;
        auto operator<=>(key const&) const = default;
    };
    struct last_ballot {
        seam::sequence number{};
        seam::store_time until{};
    };

    std::map<key, last_ballot> names_;
    std::deque<std::pair<seam::store_time, key>> by_end_;
    lease::ballot_windows windows_;
};

}  // namespace holdfast::stores::memory
