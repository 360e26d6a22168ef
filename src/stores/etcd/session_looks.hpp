// Which of the watched sessions are still to be looked at, and when.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.hpp"
#include "stores/compare/retry_pause.hpp"
#include "stores/compare/session.hpp"

namespace holdfast::stores::etcd {

/// A watch tells what happens from when it is in force on: whether the session lived at that moment is a question of its
/// own, asked until it is answered.
///
/// Thread-safety: none; the driver serialises.
class session_looks {
public:
    struct look {
        compare::session_id id{};
        std::uint64_t wish{0};

        bool operator==(look const&) const = default;
    };

    /// To be looked at now; what is under way for it was asked too early to count.
    void want(compare::session_id id) { open_.insert_or_assign(id, entry{{}, ++wishes_}); }
    void remove(compare::session_id id) { open_.erase(id); }

    /// Those whose time has come. They are not due again before they were missed.
    [[nodiscard]] std::vector<look> take_due(base::instant now) {
        std::vector<look> out;
        for (auto& [id, each] : open_) {
            if (now < each.when) continue;
            out.push_back({id, each.wish});
            each.when = base::never;
        }
        return out;
    }

    /// They have been looked at.
    void were_found(std::vector<look> const& all) {
        pause_.reset();
        for (auto const& each : all)
            if (auto const found = open_.find(each.id);
                found != open_.end() && found->second.wish == each.wish)
                open_.erase(found);
    }

    /// There was no answer: they are looked at again, after a pause.
    void were_missed(std::vector<look> const& all, base::instant now) {
        auto const again = now + pause_.next();
        for (auto const& each : all)
            if (auto const found = open_.find(each.id);
                found != open_.end() && found->second.wish == each.wish)
                found->second.when = again;
    }

    /// Nobody waits out a pause: what stood in the way is gone.
    void hurry() {
        for (auto& [id, each] : open_)
            if (each.when != base::never) each.when = {};
    }

    [[nodiscard]] base::instant due() const noexcept {
        auto out = base::never;
        for (auto const& [id, each] : open_)
            out = std::min(out, each.when);
        return out;
    }

private:
    struct entry {
        base::instant when{};  ///< never: under way
        std::uint64_t wish{0};
    };

    std::map<compare::session_id, entry> open_;
    std::uint64_t wishes_{0};
    compare::retry_pause pause_{std::chrono::milliseconds{100}, std::chrono::milliseconds{2000}};
};

}  // namespace holdfast::stores::etcd
