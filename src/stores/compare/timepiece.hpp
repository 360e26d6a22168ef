// What a client knows of the time of its store.
#pragma once

#include <functional>

#include "stores/compare/driver.hpp"
#include "stores/compare/head.hpp"

namespace holdfast::stores::compare {

/// The clocks of this machine; passed in, so that a simulation has its own.
struct local_clocks {
    std::function<base::instant()> boot;
    std::function<std::int64_t()> wall;  ///< microseconds; only for what is shown to people
};

/// Thread-safety: none; it belongs to its machine.
class timepiece {
public:
    timepiece(local_clocks clocks, bool shared) : clocks_{std::move(clocks)}, shared_{shared} {}

    /// `asked`: when whatever brought it was begun, so that the store's clock showed it no sooner.
    void note(reading when, base::instant asked) {
        if (when.now == seam::store_time{}) return;
        if (when.clock == last_.clock && when.now < last_.now) return;
        last_ = when;
        noted_ = clocks_.boot();
        asked_ = asked;
    }

    /// Where the store's time is the client's own: it is now. To be called before something is answered without
    /// asking the store, since a reply's time must be no earlier than its request. False where it is not.
    bool note_own_time() {
        if (shared_) return false;
        auto const now =
            std::chrono::ceil<seam::store_clock::duration>(clocks_.boot().time_since_epoch());
        note({.now = seam::store_time{now}, .clock = last_.clock}, clocks_.boot());
        return true;
    }

    /// The store's time is no earlier.
    [[nodiscard]] reading last() const noexcept { return last_; }

    /// At what time the rules judge: no later than the store's own. Where that is the client's, it is now.
    [[nodiscard]] moment judging_time() const { return at(shared_ ? last_.now : estimate()); }

    /// By so much at most the store's own time is later than that at which the rules judge; also by a clock that
    /// runs faster than ours.
    [[nodiscard]] seam::store_clock::duration lag() const {
        if (!shared_) return {};
        auto const since = std::chrono::ceil<seam::store_clock::duration>(clocks_.boot() - asked_);
        return since + since / 64;
    }

    /// About what the store's clock shows; to decide when to ask, never to judge by a clock of the store's.
    [[nodiscard]] seam::store_time estimate() const {
        return last_.now +
               std::chrono::duration_cast<seam::store_clock::duration>(clocks_.boot() - noted_);
    }

    [[nodiscard]] base::instant boot() const { return clocks_.boot(); }

private:
    [[nodiscard]] moment at(seam::store_time now) const {
        auto const wall = seam::store_time{seam::store_clock::duration{clocks_.wall()}};
        return {.now = now, .shown = shared_ ? now : wall};
    }

    local_clocks clocks_;
    bool shared_;
    reading last_{};
    base::instant noted_{};
    base::instant asked_{};
};

}  // namespace holdfast::stores::compare
