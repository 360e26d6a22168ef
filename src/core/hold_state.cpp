#include "core/hold_state.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "core/hold_mutexes.hpp"

namespace holdfast::core {

namespace {

constexpr char const* overdue = "no renewal was confirmed before the deadline";

// A few for all grants: they are taken for a moment, when a hold is lost or watched.
std::array<std::mutex, 64>& all_mutexes() noexcept {
    static std::array<std::mutex, 64> all;
    return all;
}

}  // namespace

void renew_hold_mutexes_in_child() noexcept {
    for (auto& each : all_mutexes())
        std::construct_at(&each);
}

std::mutex& hold_state::mutex() const noexcept {
    auto& all = all_mutexes();
    return all[std::hash<hold_state const*>{}(this) / alignof(std::max_align_t) % all.size()];
}

hold_state::cold_part& hold_state::cold() {
    if (cold_ == nullptr) cold_ = std::make_unique<cold_part>();
    return *cold_;
}

std::string hold_state::loss_reason(base::instant now) const {
    if (state(now) != lease_state::lost) return {};
    std::lock_guard const guard{mutex()};
    return cold_ == nullptr || cold_->reason.empty() ? overdue : cold_->reason;
}

std::stop_token hold_state::lost() {
    std::lock_guard const guard{mutex()};
    auto& watchers = cold().watchers;
    if (!watchers) {
        watched_.store(true, std::memory_order_relaxed);
        watchers.emplace();
        // Asked for after the announcement: it fires at once, for there is nobody to call.
        if (said_.load(std::memory_order_acquire) == lease_state::lost && !released_)
            watchers->request_stop();
    }
    return watchers->get_token();
}

void hold_state::announce_loss() {
    std::optional<std::stop_source> watchers;
    {
        std::lock_guard const guard{mutex()};
        if (said_.load(std::memory_order_acquire) != lease_state::lost || released_) return;
        if (cold_ != nullptr) watchers = cold_->watchers;
    }
    if (watchers) watchers->request_stop();
}

void hold_state::extend(base::instant lost_at, bool in_doubt) noexcept {
    lost_at_.store(lost_at, std::memory_order_release);
    auto said = said_.load(std::memory_order_relaxed);
    if (said == lease_state::held || said == lease_state::in_doubt)
        said_.store(in_doubt ? lease_state::in_doubt : lease_state::held,
                    std::memory_order_release);
}

bool hold_state::lose(std::string reason) {
    std::lock_guard const guard{mutex()};
    auto const said = said_.load(std::memory_order_relaxed);
    if ((said != lease_state::held && said != lease_state::in_doubt) || released_) return false;
    cold().reason = std::move(reason);
    said_.store(lease_state::lost, std::memory_order_release);
    return true;
}

bool hold_state::release(base::instant now) noexcept {
    auto const was = said_.load(std::memory_order_relaxed);
    bool const in_time =
        (was == lease_state::held || was == lease_state::in_doubt) && now < lost_at();
    said_.store(in_time ? lease_state::released : lease_state::lost, std::memory_order_release);
    released_ = true;
    return in_time;
}

}  // namespace holdfast::core
