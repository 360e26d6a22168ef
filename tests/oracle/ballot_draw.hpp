// Ballots for random requests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/random.hpp"
#include "oracle/comparison.hpp"
#include "seam/reply.hpp"

namespace holdfast::oracle {

/// Thread-safety: none.
class ballot_draw {
public:
    /// `timed`: what is forgotten of names, and when, is told by the times of replies. Where it is not, only such ballots are
    /// drawn on which all that may be remembered agrees: above all of them, or no higher than the last one of the name.
    explicit ballot_draw(bool timed) : timed_{timed} {}

    [[nodiscard]] seam::sequence next(std::string const& name, base::random& chance) {
        auto const last = granted_.find(name);
        if (!timed_ && (last == granted_.end() || chance.one_in(2))) return above(++highest_);
        if (!timed_) return above(last->second - chance.below(std::min(last->second, 8UL)));
        // Mostly about as high as the last ones, of whatever name; now and then as high as those of long ago.
        highest_ += chance.below(4);
        return above(highest_ -
                     chance.below(chance.one_in(4) ? highest_ : std::min(highest_, 8UL)));
    }

    void note(seam::submit const& asked, seam::reply_body const& answer) {
        auto const* const yes = std::get_if<seam::granted>(&answer);
        if (yes == nullptr || asked.ballot == seam::sequence{} || yes->held.number != asked.ballot)
            return;
        auto& last = granted_[asked.subject.name()];
        last = std::max(last, static_cast<std::uint64_t>(asked.ballot) - ballots_from);
    }

private:
    static seam::sequence above(std::uint64_t number) {
        return seam::sequence{ballots_from + number};
    }

    bool const timed_;
    std::uint64_t highest_{1};
    std::map<std::string, std::uint64_t> granted_;  ///< the highest of each name
};

}  // namespace holdfast::oracle
