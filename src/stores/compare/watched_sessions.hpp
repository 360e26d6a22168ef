// Sessions of others whose end is waited for, on a store that tells nobody when one ends.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "stores/compare/outbox.hpp"

namespace holdfast::stores::compare {

/// Knows when to look at which of them: when its time should be over, and now and then before.
///
/// Thread-safety: none; its owner serialises.
class watched_sessions {
public:
    /// How much longer the sessions that were found will live unless they show a sign of life.
    using left = std::map<session_id, std::chrono::microseconds>;

    explicit watched_sessions(outbox& out) : out_{out} {}

    void add(session_id id, base::instant now) { next_[id] = now; }
    void remove(session_id id) { next_.erase(id); }

    /// Those that are to be looked at now, all at once. They are not due again before they `were_found`.
    [[nodiscard]] std::vector<session_id> take_due(base::instant now);
    /// What came of it; nothing when it was not answered. Those that are not among the living have ended.
    void were_found(std::vector<session_id> const& looked_at, std::optional<left> const& living,
                    base::instant now);
    [[nodiscard]] base::instant due() const noexcept;

private:
    outbox& out_;
    std::map<session_id, base::instant> next_;  ///< when to look
};

}  // namespace holdfast::stores::compare
