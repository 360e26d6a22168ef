// What the drivers of databases have in common: everything but the words, and how whoever waits is told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stores/compare/polled_driver.hpp"
#include "stores/compare/watched_sessions.hpp"

namespace holdfast::stores::sql {

/// What one look has found of a name.
struct viewed {
    compare::view found{};
    std::vector<compare::session_id>
        expired{};  ///< their time is over, but nobody has ended them yet
    std::vector<compare::session_id> untold{};  ///< the head names them beyond what one look tells
    std::vector<compare::session_id>
        named{};  ///< all whom the head names, where the dialect wants to know
};

/// What the exchange of a step has told.
struct stepped {
    bool guarded{false};                      ///< the guard held
    std::optional<compare::stamp> written{};  ///< when the first branch was carried out
    std::vector<std::uint64_t> places{};      ///< of those who were appended by it
    bool joined_unseen{false};                ///< somebody is in the line of whom it did not know
    std::optional<viewed> otherwise{};        ///< the look of the second branch, when it came along
    compare::reading when{};
};

using shared_step = std::shared_ptr<compare::step const>;

/// A call of the family, of which one exchange or several are made.
struct call {
    call(compare::ticket of, bool has_written = false) : which{of}, written{has_written} {}

    compare::ticket which;
    /// An exchange before has written something: whatever fails from here on, the call may have been carried out.
    bool written;
};

/// A call is one exchange with the server. It needs a second one only when what it found has to be looked at more closely: a
/// session whose time is over, a miss that was not expected.
class driver : public compare::polled_driver {
public:
    void keep(compare::ticket which, std::vector<compare::session_id> ids) final;
    void fetch(compare::ticket which, compare::query what) final;
    void commit(compare::ticket which, compare::step what) final;
    void watch_session(compare::session_id id) final;
    void unwatch_session(compare::session_id id) noexcept final;

protected:
    using view_reader = std::function<void(std::vector<compare::view>, compare::reading)>;
    using viewed_reader = std::function<void(std::vector<viewed>, compare::reading)>;

    driver(std::string server, compare::driver_events& events, compare::log_function log)
        : polled_driver{events, std::move(log)},
          server_{std::move(server)},
          chance_{base::entropy()} {}

    /// To be called for what the functions below have asked. `undecided`: neither alive nor ended; those are asked for again.
    void on_kept(compare::ticket which, std::vector<compare::session_id> const& ids,
                 std::set<compare::session_id> const& alive,
                 std::set<compare::session_id> const& undecided, compare::reading when)
        HOLDFAST_REQUIRES(mutex_);
    void on_stepped(compare::ticket which, shared_step const& what, stepped found)
        HOLDFAST_REQUIRES(mutex_);
    void on_second_branch(compare::ticket which, shared_step const& what, viewed seen,
                          compare::reading when) HOLDFAST_REQUIRES(mutex_);
    /// A call has no answer. `certain`: the exchange that failed was not carried out, and will not be.
    void fail_call(call const& which, base::error why, bool certain) HOLDFAST_REQUIRES(mutex_) {
        out_.fail(which.which, std::move(why), certain && !which.written);
    }

    /// What ballots are kept in is there: nobody has to look for it, until a table turns out to be gone.
    [[nodiscard]] bool has_ballots() const noexcept { return ballots_; }
    void forget_ballots() noexcept { ballots_ = false; }

    /// Looks once more where sessions were found whose time is over, which are ended first.
    void look(call which, std::vector<compare::name_query> what, view_reader then)
        HOLDFAST_REQUIRES(mutex_);

    /// There is no connection any more, or there is one again. -> whether that is news
    bool on_down(base::error const& why) HOLDFAST_REQUIRES(mutex_);
    bool on_up() HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] bool is_down() const noexcept { return down_; }

    /// What time brings for watched sessions.
    void look_at_sessions() HOLDFAST_REQUIRES(mutex_);
    [[nodiscard]] base::instant sessions_due() const noexcept { return watched_.due(); }
    [[nodiscard]] compare::watched_sessions& watched() noexcept { return watched_; }

private:
    /// All of these with the lock held. When one fails, the call is answered by the dialect.
    virtual void send_signs_of_life(compare::ticket which,
                                    std::vector<compare::session_id> const& ids)
        HOLDFAST_REQUIRES(mutex_) = 0;
    /// The session has ended: nothing is heard for it any more.
    virtual void forget(compare::session_id id) HOLDFAST_REQUIRES(mutex_) = 0;
    /// Ends these sessions if their time is over, and then looks.
    virtual void send_look(call which, std::vector<compare::name_query> what,
                           std::vector<compare::session_id> reaped, viewed_reader then)
        HOLDFAST_REQUIRES(mutex_) = 0;
    /// `along`: with the second branch, or its look.
    virtual void send_step(compare::ticket which, shared_step what, bool along)
        HOLDFAST_REQUIRES(mutex_) = 0;
    /// Of a step that has not brought it along. Where the step's own exchange appends, only the look is missing.
    virtual void send_second_branch(compare::ticket which, shared_step const& what)
        HOLDFAST_REQUIRES(mutex_);
    /// Ends those whose time is over; what it finds is told to `watched().were_found`.
    virtual void send_look_at(std::vector<compare::session_id> ids) HOLDFAST_REQUIRES(mutex_) = 0;
    /// Removes what the dead have left where nobody looks, if nobody else has done so lately; and ballots that are old
    /// enough, once there were some. `in_passing`: by a client that is about to end, and takes little at once.
    virtual void send_sweep(bool in_passing) HOLDFAST_REQUIRES(mutex_) = 0;
    /// There is a connection; and something is under way.
    [[nodiscard]] virtual bool is_connected() const noexcept = 0;
    [[nodiscard]] virtual bool is_busy() const noexcept = 0;
    /// Makes what ballots are kept in, unless it is there.
    virtual void make_ballots(call which, std::function<void()> then) HOLDFAST_REQUIRES(mutex_) = 0;

    void wind_up() final HOLDFAST_REQUIRES(mutex_);

    /// Hardly any database ever sees a ballot: nobody looks for their table before the first one comes.
    void with_ballots(call which, bool needed, std::function<void()> then)
        HOLDFAST_REQUIRES(mutex_);

    void look_again(call which, std::vector<compare::name_query> what,
                    std::vector<viewed> const& seen, view_reader then) HOLDFAST_REQUIRES(mutex_);
    void remember(compare::name_key const& key, bool contended) HOLDFAST_REQUIRES(mutex_);

    std::string const server_;
    bool down_{false};  ///< said, and there was no connection since
    compare::watched_sessions watched_{out_};
    base::instant sweep_at_{};      ///< not before; as it was made: nobody has asked for a turn
    bool leaves_something_{false};  ///< a step was sent
    base::random chance_;
    bool ballots_{false};
    /// Names on which the last step came to its second branch: the next one brings it along.
    std::set<compare::name_key> contended_;
};

}  // namespace holdfast::stores::sql
