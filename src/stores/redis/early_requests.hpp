// Requests that came before it was known where the servers are.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "seam/store.hpp"

namespace holdfast::stores::redis {

/// Those who came first go first.
///
/// Thread-safety: none; its owner serialises.
class early_requests {
public:
    struct request {
        seam::request_id id{};
        seam::request what;
        base::instant give_up{};
    };

    void keep(request one) { all_.push_back(std::move(one)); }

    [[nodiscard]] std::vector<request> take() { return std::exchange(all_, {}); }
    /// Those for which it has become too late. All have the same time, so that of the first ends first.
    [[nodiscard]] std::vector<request> take_expired(base::instant now) {
        auto const first =
            std::ranges::find_if(all_, [now](request const& each) { return now < each.give_up; });
        std::vector<request> out{std::move_iterator{all_.begin()}, std::move_iterator{first}};
        all_.erase(all_.begin(), first);
        return out;
    }
    [[nodiscard]] base::instant next_due() const noexcept {
        return all_.empty() ? base::never : all_.front().give_up;
    }

private:
    std::vector<request> all_;
};

}  // namespace holdfast::stores::redis
