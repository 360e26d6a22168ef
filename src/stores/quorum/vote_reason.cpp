#include "stores/quorum/vote_reason.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace holdfast::stores::quorum {

namespace {

using std::chrono::milliseconds;

// When a majority may be free, unless what is in the way is renewed; zero when that is not known.
milliseconds blocked_for(round const& in, std::size_t majority) {
    std::vector<milliseconds> spans;
    for (auto const& each : in.votes) {
        if (each.is != vote::state::answered) continue;
        auto const* const no = std::get_if<seam::refused>(&each.answer);
        spans.push_back(no == nullptr ? milliseconds::zero() : no->blocked_for);
    }
    if (spans.size() < majority) return milliseconds::zero();
    std::ranges::sort(spans);
    return spans[majority - 1];
}

}  // namespace

seam::reply_body reason_without_majority(round const& in, rounds const& asked) {
    auto const majority = asked.majority();
    if (in.answered() + in.pending() < majority) return asked.no_majority(&in);
    for (auto const why : {seam::refusal::kind_mismatch, seam::refusal::too_late}) {
        auto const same = [why](seam::refused const& no) { return no.why == why; };
        if (in.count_of<seam::refused>(same) + in.count_of<seam::granted>() < majority) continue;
        for (auto const& each : in.votes)
            if (auto const* const no = std::get_if<seam::refused>(&each.answer);
                each.is == vote::state::answered && no != nullptr && same(*no))
                return *no;
    }
    return seam::refused{.blocked_for = blocked_for(in, majority)};
}

}  // namespace holdfast::stores::quorum
