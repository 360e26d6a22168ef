#include "core/grant.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "core/words.hpp"

namespace holdfast::core {

namespace {

constexpr char const* overdue = "no renewal was confirmed before the deadline";

// A few for all grants: they are taken for a moment, when a hold is lost or watched.
std::array<std::mutex, 64>& all_words() noexcept {
    static std::array<std::mutex, 64> all;
    return all;
}

}  // namespace

void renew_words_in_child() noexcept {
    for (auto& it : all_words())
        std::construct_at(&it);
}

std::mutex& grant::words() const noexcept {
    auto& all = all_words();
    return all[std::hash<grant const*>{}(this) / alignof(std::max_align_t) % all.size()];
}

grant::rarity& grant::rare() {
    if (rare_ == nullptr) rare_ = std::make_unique<rarity>();
    return *rare_;
}

std::string grant::loss_reason(base::instant now) const {
    if (state(now) != lease_state::lost) return {};
    std::lock_guard const guard{words()};
    return rare_ == nullptr || rare_->reason.empty() ? overdue : rare_->reason;
}

std::stop_token grant::lost() {
    std::lock_guard const guard{words()};
    auto& watchers = rare().watchers;
    if (!watchers) {
        watched_.store(true, std::memory_order_relaxed);
        watchers.emplace();
        // Asked for after the announcement: it fires at once, for there is nobody to call.
        if (said_.load(std::memory_order_acquire) == lease_state::lost && !released_)
            watchers->request_stop();
    }
    return watchers->get_token();
}

void grant::announce_loss() {
    std::optional<std::stop_source> watchers;
    {
        std::lock_guard const guard{words()};
        if (said_.load(std::memory_order_acquire) != lease_state::lost || released_) return;
        if (rare_ != nullptr) watchers = rare_->watchers;
    }
    if (watchers) watchers->request_stop();
}

void grant::extend(base::instant lost_at, bool in_doubt) noexcept {
    lost_at_.store(lost_at, std::memory_order_release);
    auto said = said_.load(std::memory_order_relaxed);
    if (said == lease_state::held || said == lease_state::in_doubt)
        said_.store(in_doubt ? lease_state::in_doubt : lease_state::held,
                    std::memory_order_release);
}

bool grant::lose(std::string reason) {
    std::lock_guard const guard{words()};
    auto const said = said_.load(std::memory_order_relaxed);
    if ((said != lease_state::held && said != lease_state::in_doubt) || released_) return false;
    rare().reason = std::move(reason);
    said_.store(lease_state::lost, std::memory_order_release);
    return true;
}

bool grant::release(base::instant now) noexcept {
    auto const was = said_.load(std::memory_order_relaxed);
    bool const in_time =
        (was == lease_state::held || was == lease_state::in_doubt) && now < lost_at();
    said_.store(in_time ? lease_state::released : lease_state::lost, std::memory_order_release);
    released_ = true;
    return in_time;
}

}  // namespace holdfast::core
