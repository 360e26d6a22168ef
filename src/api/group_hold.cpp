#include <algorithm>
#include <utility>

#include "api/hold.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

namespace {

// The outcome of several releases: the worst of them.
release_outcome worse(release_outcome one, release_outcome other) {
    auto const rank = [](release_outcome outcome) {
        return outcome == release_outcome::released  ? 0
               : outcome == release_outcome::unknown ? 1
                                                     : 2;
    };
    return rank(one) >= rank(other) ? one : other;
}

int rank(lease_state state) {
    switch (state) {
    case lease_state::held: return 0;
    case lease_state::in_doubt: return 1;
    case lease_state::released: return 2;
    case lease_state::lost: return 3;
    }
    return 3;
}

/// Counts the releases of all parts down to the last, whose thread reports.
struct group_release {
    group_release(std::size_t parts, std::function<void(release_outcome)> report)
        : left{parts}, then{std::move(report)} {}

    base::mutex mutex{};
    std::size_t left HOLDFAST_GUARDED_BY(mutex);
    release_outcome outcome HOLDFAST_GUARDED_BY(mutex){release_outcome::released};
    std::function<void(release_outcome)> const then;

    void one_ended(release_outcome how) {
        base::unique_lock held{mutex};
        outcome = worse(outcome, how);
        bool const last = --left == 0;
        auto const all = outcome;
        held.unlock();
        if (last) then(all);
    }
};

}  // namespace

group_hold::group_hold(std::vector<std::shared_ptr<hold>> parts) : parts_{std::move(parts)} {}

std::string const& group_hold::name() const noexcept { return parts_.front()->name(); }

std::uint64_t group_hold::token() const noexcept { return parts_.front()->token(); }

std::optional<std::uint64_t> group_hold::token(std::string_view name) const {
    for (auto const& each : parts_)
        if (auto const found = each->token(name)) return found;
    return std::nullopt;
}

std::stop_token group_hold::lost() {
    client().require_usable();
    std::stop_source fresh;
    {
        base::lock_guard const guard{mutex_};
        if (lost_.stop_possible()) return lost_.get_token();
        lost_ = fresh;
    }
    // Made without the lock: of a part that is lost already the callback runs at once.
    std::vector<std::unique_ptr<callback>> watches;
    for (auto const& each : parts_)
        watches.push_back(
            std::make_unique<callback>(each->lost(), [all = fresh, let_go = let_go_]() mutable {
                if (!let_go->load(std::memory_order_acquire)) all.request_stop();
            }));
    base::lock_guard const guard{mutex_};
    watches_ = std::move(watches);
    return fresh.get_token();
}

std::string group_hold::loss_reason() const {
    for (auto const& each : parts_)
        if (auto const why = each->loss_reason(); !why.empty()) return each->name() + ": " + why;
    return {};
}

lease_state group_hold::state() const noexcept {
    auto out = lease_state::held;
    for (auto const& each : parts_)
        if (auto const one = each->state(); rank(one) > rank(out)) out = one;
    return out;
}

base::instant group_hold::lost_at() const noexcept {
    auto out = base::never;
    for (auto const& each : parts_)
        out = std::min(out, each->lost_at());
    return out;
}

// One after the other: it may be called on the notifier thread, on which their ends are told.
release_outcome group_hold::release() {
    let_go_->store(true, std::memory_order_release);
    auto out = release_outcome::released;
    for (auto const& each : parts_)
        out = worse(out, each->release());
    return out;
}

void group_hold::start_release(std::shared_ptr<hold> self, release_handler then) {
    let_go_->store(true, std::memory_order_release);
    auto const all = std::make_shared<group_release>(
        parts_.size(),
        [self = std::move(self), then = std::move(then)](release_outcome how) mutable {
            then({.value = how, .origin = std::move(self)});
        });
    for (auto const& each : parts_)
        each->start_release(each, [all](release_result const& got) { all->one_ended(got.value); });
}

lease_state group_hold::renew(std::optional<std::chrono::milliseconds> lease) {
    for (auto const& each : parts_)
        (void)each->renew(lease);
    return state();
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
