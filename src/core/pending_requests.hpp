// Requests under way: what each was about, until its answer comes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.hpp"
#include "seam/request.hpp"

namespace holdfast::core {

/// What a request is for, and so who gets its answer.
enum class request_purpose { hello, submit, settle, renew, operation, watch, look };

/// One claim of a renewal.
struct renewed_claim {
    std::uint64_t number{0};
    std::chrono::milliseconds lease{};  ///< that was asked for, which may have changed since
};

struct pending_request {
    request_purpose purpose{};
    base::instant sent{};
    std::uint64_t subject{0};             ///< claim number, ticket, or place among renewals
    std::optional<seam::lane_id> lane{};  ///< that answers; nothing when several do
    std::vector<renewed_claim> batch{};   ///< of a renewal
};

/// Thread-safety: none; it belongs to the engine.
class pending_requests {
public:
    /// Remembers a request that is sent now, and names it.
    [[nodiscard]] seam::request_id add(pending_request sent) {
        if (requests_.size() >= limit_) forget_old(sent.sent);
        auto const id = seam::request_id{++last_};
        requests_.emplace(last_, std::move(sent));
        return id;
    }

    /// Takes out what was answered; nothing when the answer came before, or much too late.
    [[nodiscard]] std::optional<pending_request> take(seam::request_id id) {
        auto const found = requests_.find(static_cast<std::uint64_t>(id));
        if (found == requests_.end()) return std::nullopt;
        auto out = std::move(found->second);
        requests_.erase(found);
        return out;
    }

    [[nodiscard]] std::size_t size() const noexcept { return requests_.size(); }

private:
    // An answer that has not come for so long will not come any more: a store answers every request, but a
    // store may have a defect.
    static constexpr std::chrono::minutes long_ago{2};
    static constexpr std::size_t usual_limit = 1024;

    void forget_old(base::instant now) {
        boost::unordered::erase_if(
            requests_, [&](auto const& entry) { return now - entry.second.sent > long_ago; });
        limit_ = std::max(usual_limit, requests_.size() * 2);
    }

    boost::unordered_flat_map<std::uint64_t, pending_request> requests_;
    std::size_t limit_{usual_limit};
    std::uint64_t last_{0};
};

}  // namespace holdfast::core
