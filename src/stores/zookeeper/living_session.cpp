#include "stores/zookeeper/living_session.hpp"

#include <algorithm>

namespace holdfast::stores::zookeeper {

std::chrono::milliseconds signs_of_life::lease_of(milliseconds given, milliseconds tick) noexcept {
    return std::max(given * 3 / 4 - 2 * tick, given / 8);
}

std::chrono::milliseconds signs_of_life::time_out_for(milliseconds lease,
                                                      milliseconds tick) noexcept {
    constexpr milliseconds longest{1'000'000'000};
    return std::min((lease + 2 * tick) * 4 / 3 + milliseconds{4}, longest);
}

// Three writes prove that the first was counted. Within the tick after it was confirmed, the leader asks the follower who
// has spoken; the second is sent later than that, so its confirmation reaches the follower behind the question. By then the
// follower has answered, and the third, sent after that confirmation, reaches the leader behind the answer. The leader's
// own count began no earlier than the first was sent, and lasts for the whole time-out, by a clock that may run faster than
// ours; what the holder's own margin leaves of that is allowed for here.
base::instant signs_of_life::confirm(base::instant sent, base::instant confirmed) {
    base::instant second{};
    for (auto const& each : recent_)
        if (each.confirmed <= sent) second = std::max(second, each.sent);
    for (auto const& each : recent_)
        if (each.confirmed + tick_ <= second) note_counted(each.sent);
    std::erase_if(recent_, [&](sign const& each) { return each.sent < counted_; });
    recent_.push_back({sent, confirmed});
    return std::min(sent, counted_ + (given_ - lease()) * 99 / 100);
}

}  // namespace holdfast::stores::zookeeper
