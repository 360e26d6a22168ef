#include "stores/memory/memory_ballots.hpp"

#include <algorithm>

namespace holdfast::stores::memory {

seam::sequence memory_ballots::to_exceed(seam::claim_spec const& spec, seam::store_time now) {
    windows_.turn(now);
    auto const found = names_.find({spec.kind == lock_kind::condition, spec.name});
    auto const last = found == names_.end() ? seam::sequence{} : found->second.number;
    return std::max(last, seam::sequence{windows_.floor});
}

void memory_ballots::note(seam::claim_spec const& spec, seam::sequence ballot,
                          seam::store_time now) {
    windows_.turn(now);
    windows_.note(ballot);
    key name{spec.kind == lock_kind::condition, spec.name};
    auto& last = names_[name];
    last = {std::max(last.number, ballot), now + lease::ballot_kept};
    by_end_.emplace_back(last.until, std::move(name));
}

void memory_ballots::drop(seam::store_time now) {
    for (; !by_end_.empty() && by_end_.front().first <= now; by_end_.pop_front()) {
        auto const found = names_.find(by_end_.front().second);
        if (found != names_.end() && found->second.until <= now) names_.erase(found);
    }
}

}  // namespace holdfast::stores::memory
