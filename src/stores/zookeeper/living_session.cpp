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

// A write that was confirmed proves that whatever was said a tick before it has been counted. The leader's own count
// began with the first of those, and lasts for the whole time-out.
base::instant signs_of_life::confirm(base::instant sent, base::instant confirmed) {
    for (auto const& each : recent_)
        if (each.confirmed + tick_ <= sent) note_counted(each.sent);
    std::erase_if(recent_, [&](sign const& each) { return each.sent < counted_; });
    recent_.push_back({sent, confirmed});
    return std::min(sent, counted_ + (given_ - lease()));
}

}  // namespace holdfast::stores::zookeeper
