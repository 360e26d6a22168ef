// What a store that compares must be able to do: the whole of what a driver implements.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "stores/compare/step.hpp"

namespace holdfast::stores::compare {

/// Names one call of a driver; its outcome carries it.
enum class ticket : std::uint64_t {};

struct opened {
    generation current{};
    std::chrono::milliseconds
        lease{};  ///< as the store gave it; shorter than asked for only where it gives nobody more
    seam::store_time began{};  ///< no later than when the store began to count
};

/// One session that showed, or tried to show, a sign of life.
struct kept {
    enum class state { alive, dead, unknown };
    session_id id{};
    state found{state::unknown};
    seam::store_time began{};  ///< of the lease that runs now; as in `opened`
};

struct raised {
    generation current{};
};

struct views {
    std::vector<view> found;
};

struct names {
    std::vector<std::string> found;
};

/// Nothing to tell: a watch is in force.
struct in_force {};

/// It was not carried out, for certain.
struct rejected {
    base::error error;
};

/// Whether it was carried out, or still will be, is unknown.
struct unknown {
    base::error error;
};

using outcome = std::variant<rejected, unknown, committed, missed, fenced, views, names, opened,
                             std::vector<kept>, raised, in_force>;

/// What every outcome tells beside: the store's time, by which clock. Meaningless in `rejected` and
/// `unknown`.
struct reading {
    seam::store_time now{};
    seam::clock_id clock{};
};

/// Receives what a driver has to tell; called only from inside `driver::drive`, with no lock of the driver
/// held.
class driver_events {
public:
    virtual void on_outcome(ticket which, outcome what, reading when) = 0;
    /// A letter for a session of this client.
    virtual void on_letter(session_id to, std::string body, stamp written) = 0;
    /// Letters, changes and ends of sessions may have been missed; from here on none is. Watches are kept
    /// by the driver itself.
    virtual void on_gap() = 0;
    /// The connection is gone for a time or is back; a session may be dead without our knowing it.
    virtual void on_doubt(std::string why) = 0;
    /// A watched name is another one now.
    virtual void on_changed(name_key key) = 0;
    /// A session that was watched is dead.
    virtual void on_session_end(session_id which) = 0;

protected:
    ~driver_events() = default;
};

/// What a driver's store is like.
struct driver_traits {
    /// The store has a clock that all its clients share, and ends can be written as times. Otherwise its
    /// time is the client's own, and an end is a session that nobody keeps alive.
    bool clock{true};
    /// Letters and changes are pushed. Otherwise the family asks again, in bounded steps.
    bool pushes{true};
    std::uint32_t letter_bytes{8000};  ///< a letter's body may have so many
    std::uint32_t writes{64};          ///< a step may change so many things, its letters included
    /// Who joins the line is told of so many in it; of fewer where each costs a read of its own.
    std::uint32_t seen_by_joiners{8};
    /// Several who join the line by one step have an order. Otherwise they join it one by one.
    bool ordered_appends{true};
    /// Steps may have a ballot: the store can be a member of a quorum.
    bool ballots{false};
    std::chrono::milliseconds shortest_lease{1};
};

/// One client's way to one store. Retries nothing and decides nothing; what it does for itself is to
/// connect, to connect again, and to bring its subscriptions back.
///
/// Every call returns at once and gets exactly one outcome later, out of `drive`; none of them blocks or
/// throws. Calls of one driver may be carried out in any order.
///
/// Thread-safety: the family calls everything but `drive`, `interrupt`, `descriptor` and `shut` under a lock
/// of its own, one at a time, from any thread, also while another thread is inside `drive`. `drive` and
/// `shut` by one thread at a time, `interrupt` by any.
class driver {
public:
    driver() = default;
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;
    virtual ~driver() = default;

    /// Known before anything is connected, except for `pushes`, which may turn out later.
    [[nodiscard]] virtual driver_traits traits() const = 0;

    /// -> opened. `body`: who the client is; empty where nobody will keep it alive: it is the end of something else.
    /// Asked a second time with the same id it answers as the first.
    virtual void open(ticket which, session_id id, std::chrono::milliseconds lease,
                      std::string body) = 0;
    /// Shows signs of life. -> vector<kept>, one for each, in order. What is dead stays dead.
    virtual void keep(ticket which, std::vector<session_id> ids) = 0;
    /// Gives the session a new generation. -> raised | fenced (it is dead)
    virtual void raise(ticket which, session_id id) = 0;
    /// Ends a session of one's own, without an outcome and only if it can be said at once.
    virtual void close(session_id id) noexcept = 0;

    virtual void fetch(ticket which, query what) = 0;   ///< -> views
    virtual void list(ticket which, listing what) = 0;  ///< -> names
    virtual void commit(ticket which, step what) = 0;   ///< -> committed | missed | fenced

    /// `on_changed` from before the outcome on. -> in_force
    virtual void watch(ticket which, name_key key) = 0;
    virtual void unwatch(name_key key) noexcept = 0;
    /// `on_session_end` once, also when it is dead already.
    virtual void watch_session(session_id id) = 0;
    virtual void unwatch_session(session_id id) noexcept = 0;

    /// As those of `seam::store`.
    virtual void drive(base::instant until) = 0;
    virtual void interrupt() noexcept = 0;
    /// Its descriptor becomes readable at that moment, or earlier; for those who wait for that instead of driving.
    virtual void wake_by(base::instant) noexcept {}
    virtual void shut() noexcept = 0;
    [[nodiscard]] virtual int descriptor() noexcept = 0;
    virtual void abandon_in_child() noexcept {}
};

}  // namespace holdfast::stores::compare
