// What a client is told without asking: letters, and changes of the names that it watches.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "stores/compare/outbox.hpp"
#include "stores/postgres/hearing.hpp"
#include "stores/postgres/statements.hpp"

namespace holdfast::stores::postgres {

/// Puts the pieces of letters together, keeps watches in force, and knows when something may have been missed.
///
/// Thread-safety: none but of `pushes`; its owner serialises.
class messages final : hearing::listener {
public:
    /// What its owner does for it.
    struct services {
        std::function<void(std::vector<statement>, std::function<void(answer)>)> send;
        std::function<bool()> is_down;  ///< that the server is not reached has been told
    };

    /// `now`: the time of whatever happens, kept by its owner.
    messages(settings const& to, schema const& tables, statements const& texts, net::poller& events,
             net::poller::tag about, base::instant const& now, compare::outbox& out,
             services around);

    [[nodiscard]] bool pushes() const noexcept { return pushes_; }
    [[nodiscard]] std::string const& channel() const noexcept { return hearing_.channel(); }
    /// Begins to listen; a second time does nothing.
    void start() { hearing_.start(now_); }

    /// The session is one of our own; letters to others are left alone.
    void expect_letters(compare::session_id to) { letters_.expect(to); }
    void forget_letters(compare::session_id to) { letters_.forget(to); }

    /// From now on changes of the name are told. It is still to be said to the store.
    void watch(compare::name_key const& key);
    /// False when it was not watched.
    bool unwatch(compare::name_key const& key) { return watched_.erase(key) > 0; }

    /// Told as soon as it is known whether messages arrive: whoever is told of a session counts on them.
    void tell_when_heard(compare::outbox::told_outcome what);

    void advance() { hearing_.advance(now_); }
    void tend();
    /// The tables were gone, and with them what was watched: all of it is watched again, and something may have been missed.
    void start_over() { watch_again(true); }
    [[nodiscard]] base::instant due() const noexcept;
    void cut(base::error const& why);
    void abandon() noexcept { hearing_.abandon(); }

private:
    void on_heard() override;
    void on_deaf(base::error const& why, bool mute) override;
    void on_said(heard what) override;
    void prove(std::string const& nonce) override;
    void watch_again(bool gap);
    void tell_held();

    statements const& statements_;
    base::instant const& now_;
    compare::outbox& out_;
    services around_;
    std::atomic<bool> pushes_{true};
    bool said_mute_{false};  ///< in the log
    bool missed_{false};     ///< something may have been said while nobody heard
    hearing hearing_;
    std::vector<compare::outbox::told_outcome> held_;  ///< until it is known
    letter_assembly letters_;
    std::set<compare::name_key> watched_;
    base::instant watch_again_at_{base::never};
    base::instant watched_since_{};  ///< all of them were last asked for then, and answered
};

}  // namespace holdfast::stores::postgres
