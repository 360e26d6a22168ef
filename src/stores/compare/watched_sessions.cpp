#include "stores/compare/watched_sessions.hpp"

#include <algorithm>

namespace holdfast::stores::compare {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds look_at_least_every = 2s;
constexpr std::chrono::microseconds look_at_most_every = 5ms;
constexpr auto after_trouble = 500ms;

}  // namespace

std::vector<session_id> watched_sessions::take_due(base::instant now) {
    std::vector<session_id> out;
    for (auto& [id, when] : next_) {
        if (now < when) continue;
        out.push_back(id);
        when = base::never;
    }
    return out;
}

void watched_sessions::were_found(std::vector<session_id> const& looked_at,
                                  std::optional<left> const& living, base::instant now) {
    for (auto const id : looked_at) {
        auto const entry = next_.find(id);
        if (entry == next_.end()) continue;
        if (!living) {
            entry->second = now + after_trouble;
        } else if (auto const lives = living->find(id); lives == living->end()) {
            next_.erase(entry);
            out_.session_end(id);
        } else {
            // Up to a millisecond later, so that it is over by then.
            entry->second =
                now + std::clamp(lives->second + 1ms, look_at_most_every, look_at_least_every);
        }
    }
}

base::instant watched_sessions::due() const noexcept {
    auto out = base::never;
    for (auto const& [id, when] : next_)
        out = std::min(out, when);
    return out;
}

}  // namespace holdfast::stores::compare
