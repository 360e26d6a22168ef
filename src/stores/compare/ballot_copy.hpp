// The ballots of one name, as they were seen.
#pragma once

#include <optional>

#include "stores/compare/step.hpp"
#include "stores/lease/ballot_memory.hpp"

namespace holdfast::stores::compare {

/// What was not seen is taken for low enough: the step compares.
/// Thread-safety: none; it belongs to a working copy.
class ballot_copy final : public lease::ballot_memory {
public:
    explicit ballot_copy(seam::sequence seen) noexcept : seen_{seen} {}

    seam::sequence to_exceed(seam::claim_spec const&, seam::store_time) override {
        compared_ = true;
        return seen_;
    }
    void note(seam::claim_spec const&, seam::sequence ballot, seam::store_time) override {
        made_ = proposal{.number = ballot, .compared = compared_};
    }

    [[nodiscard]] std::optional<proposal> const& made() const noexcept { return made_; }

private:
    seam::sequence seen_;
    bool compared_{false};
    std::optional<proposal> made_;
};

}  // namespace holdfast::stores::compare
