// The sessions of one client: opened when they are needed, kept alive while something lives with them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stores/compare/driver.hpp"
#include "stores/compare/pending_calls.hpp"
#include "stores/compare/timepiece.hpp"

namespace holdfast::stores::compare {

/// One session for each length of lease. A session in which a step had no answer is *suspect*: it gets a new
/// generation before it is used again, so that the step cannot happen after it was given up.
///
/// Thread-safety: none; it belongs to its machine.
class own_sessions {
public:
    /// The session, or why there is none.
    using user = std::function<void(own_session const*, base::error const&)>;
    using keeper = std::function<void(std::vector<kept> const*, base::error const&)>;

    own_sessions(driver& to, pending_calls& calls, timepiece& time, std::string body,
                 std::uint64_t seed, std::function<bool(session_id)> in_use,
                 std::function<void(session_id)> on_death)
        : driver_{to},
          calls_{calls},
          time_{time},
          body_{std::move(body)},
          random_{seed},
          in_use_{std::move(in_use)},
          on_death_{std::move(on_death)} {}

    /// Hands out a session for claims of this lease: alive as far as is known, not suspect, and with a good
    /// part of its lease before it. At once where that is so.
    void with(std::chrono::milliseconds lease, user then);

    /// This one; or any of them, for what lives with none.
    void with_one(session_id id, user then);

    /// A session that nobody keeps alive and that ends no sooner than after `span`; somewhat later, where
    /// `shared`, so that it can serve for several ends.
    void with_end(std::chrono::milliseconds span, bool shared, user then);

    void keep(std::vector<session_id> ids, keeper then);
    /// The same, but where one was confirmed so lately that another would change little for holds of this lease.
    void confirm(std::vector<session_id> ids, std::chrono::milliseconds lease, keeper const& then);

    /// A step of this generation had no answer.
    void suspect(session_id id, generation of);
    [[nodiscard]] bool is_suspect(session_id id) const;
    /// It is dead: forgotten here, and told.
    void declare_dead(session_id id);

    [[nodiscard]] own_session const* find(session_id id) const;
    /// Those that have died; for ever.
    [[nodiscard]] std::set<session_id> const& dead() const noexcept { return dead_; }
    /// The session that claims of this lease go into now; none while there is none.
    [[nodiscard]] session_id serves(std::chrono::milliseconds lease) const;
    /// Whether it was opened for claims of this lease. The store may have given it less.
    [[nodiscard]] bool is_for(session_id id, std::chrono::milliseconds lease) const;
    /// A shared end of this span that is there already, or none.
    [[nodiscard]] session_id known_end(std::chrono::milliseconds span) const;

    /// Ends those for which `idle` says that nothing lives with them.
    void close(std::function<bool(session_id)> const& idle) noexcept;

private:
    struct lease_slot {
        own_session session;
        bool open{false};
        bool suspect{false};
        bool busy{false};        ///< being opened or raised, or kept alive at the last moment
        bool refreshing{false};  ///< being kept alive beside its use
        std::vector<user> waiting{};
    };

    void serve(std::chrono::milliseconds lease);
    void retire_idle();
    void open(std::chrono::milliseconds lease, lease_slot& on);
    void raise(std::chrono::milliseconds lease, lease_slot& on);
    void refresh(std::chrono::milliseconds lease, lease_slot& on);
    void finish(std::chrono::milliseconds lease, base::error const& why);
    void note(std::vector<kept> const& found);
    [[nodiscard]] std::chrono::milliseconds age(own_session const& session) const;
    [[nodiscard]] session_id new_id() noexcept { return session_id{random_.next() >> 1U | 1U}; }

    struct shared_end {
        session_id id{};
        seam::store_time opened{};
    };

    driver& driver_;
    pending_calls& calls_;
    timepiece& time_;
    std::string body_;
    base::random random_;
    std::function<bool(session_id)> in_use_;  ///< a claim lives with it
    std::function<void(session_id)> on_death_;
    std::map<std::chrono::milliseconds, lease_slot> slots_;
    std::map<std::chrono::milliseconds, shared_end> ends_;
    std::set<session_id> dead_;
};

}  // namespace holdfast::stores::compare
