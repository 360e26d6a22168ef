#include "api/holder_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast {
inline namespace v1 {
namespace detail {

bool holder_table::holding::belongs_to(holder const& who) const noexcept {
    if (mode != who.mode || owner != who.owner) return false;
    return !owner.empty() || thread == who.thread;
}

void holder_table::add(holder const& who, hold_ptr hold) {
    base::lock_guard const guard{mutex_};
    holdings_.push_back({who.thread, std::string{who.owner}, who.mode, std::move(hold)});
}

holder_table::hold_ptr holder_table::find(holder const& who) const {
    base::lock_guard const guard{mutex_};
    auto const found = std::find_if(holdings_.rbegin(), holdings_.rend(),
                                    [&](auto const& each) { return each.belongs_to(who); });
    return found == holdings_.rend() ? nullptr : found->hold;
}

holder_table::hold_ptr holder_table::enter_again(holder const& who, base::instant now) {
    base::lock_guard const guard{mutex_};
    for (auto& each : holdings_) {
        if (!each.belongs_to(who) || each.hold->state(now) == lease_state::lost) continue;
        ++each.count;
        return each.hold;
    }
    return nullptr;
}

bool holder_table::is_held_by(seam::actor_id thread, base::instant now) const {
    base::lock_guard const guard{mutex_};
    return std::ranges::any_of(holdings_, [&](holding const& each) {
        return each.thread == thread && each.owner.empty() &&
               each.hold->state(now) != lease_state::lost;
    });
}

std::optional<holder_table::hold_ptr> holder_table::leave(holder const& who) {
    base::lock_guard const guard{mutex_};
    auto const found = std::find_if(holdings_.rbegin(), holdings_.rend(),
                                    [&](auto const& each) { return each.belongs_to(who); });
    if (found == holdings_.rend()) return std::nullopt;
    if (--found->count > 0) return nullptr;
    auto ended = std::move(found->hold);
    holdings_.erase(std::next(found).base());
    return ended;
}

bool holder_table::leave(hold_ptr const& hold) {
    base::lock_guard const guard{mutex_};
    auto const found = std::ranges::find(holdings_, hold, &holding::hold);
    if (found == holdings_.end() || --found->count > 0) return false;
    holdings_.erase(found);
    return true;
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
