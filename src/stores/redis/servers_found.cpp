// The servers of a store, as they are found: who takes over from whom.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "stores/redis/fault.hpp"
#include "stores/redis/servers.hpp"

namespace holdfast::stores::redis {

namespace {

constexpr auto nowhere = static_cast<std::size_t>(-1);

}  // namespace

void servers::on_reached(node& to) {
    auto& here = places_[static_cast<std::size_t>(to.lane())];
    auto const clock = to.commands.clock();
    bool const known = here.clock != seam::clock_id{};
    bool const another = here.taken_over || (to.commands.clock_is_shared() && clock != here.clock);
    here.clock = clock;
    here.taken_over = false;
    if (known && another) owner_.on_another();
}

void servers::on_break(node& to, base::error const& why) {
    if (discovery_) discovery_->hurry(now_);
    owner_.on_break(to, why);
}

void servers::on_no_topology(base::error const& why) { owner_.on_unknown(why); }

// The lane of whoever served its slots before and does not serve any now; else any that is free.
std::size_t servers::lane_for(master const& fresh, std::vector<bool> const& used) const {
    for (auto const& range : fresh.slots)
        if (auto const before = slots_->lane_of(range.first)) {
            auto const lane = static_cast<std::size_t>(*before);
            if (lane < used.size() && !used[lane]) return lane;
        }
    for (std::size_t lane = 0; lane < used.size(); ++lane)
        if (!used[lane] && places_[lane].server == nullptr) return lane;
    return used.size();
}

// Known servers keep their lanes before others are given any.
void servers::on_topology(topology const& found) {
    std::vector<bool> used(places_.size());
    std::vector<std::size_t> lanes;
    for (auto const& each : found.masters) {
        auto const lane = place_of(each.address);
        bool const known = lane < places_.size();
        lanes.push_back(known ? lane : nowhere);
        if (known) used[lane] = true;
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        auto& lane = lanes[i];
        if (lane != nowhere) continue;
        lane = lane_for(found.masters[i], used);
        if (lane == used.size()) {
            places_.emplace_back();
            used.push_back(false);
        }
        used[lane] = true;
        leave(places_[lane]);
        occupy(lane, found.masters[i].address);
        // Whoever held something there is told by its first word what has become of it.
        if (std::exchange(places_[lane].taken_over, true); places_[lane].clock != seam::clock_id{})
            places_[lane].server->commands.keep();
    }
    std::vector<std::optional<seam::lane_id>> serving(slot_count);
    for (std::size_t i = 0; i < lanes.size(); ++i)
        for (auto const& range : found.masters[i].slots)
            std::fill(serving.begin() + range.first, serving.begin() + range.last + 1,
                      static_cast<seam::lane_id>(lanes[i]));
    for (std::size_t slot = 0; slot < slot_count; ++slot)
        slots_->assign(static_cast<slot_number>(slot), serving[slot]);
    for (std::size_t lane = 0; lane < places_.size(); ++lane) {
        bool const serves = lane < used.size() && used[lane];
        bool const served = std::exchange(places_[lane].serves, serves);
        // One that never did was asked once (ASK) for keys of a slot on the move, and may never get the slot.
        auto const* const known = places_[lane].server.get();
        if (!serves && (served || (known != nullptr && known->is_idle()))) leave(places_[lane]);
    }
    known_ = true;
    owner_.on_known(found.remark);
    events_.wake();
}

// Whatever was asked there is asked again elsewhere.
void servers::leave(place& old) {
    auto const gone = std::move(old.server);
    if (gone == nullptr) return;
    gone->end({errc::store_unavailable,
               "the server " + gone->target().shown() + " is not the one to ask any more"},
              now_);
}

}  // namespace holdfast::stores::redis
