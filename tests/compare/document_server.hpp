// A store that compares, in memory: what the drivers of the family reach over a network. It has no clock and no
// thread of its own; whoever uses it brings the time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/compare/driver.hpp"

namespace holdfast::driver_tests {

namespace compare = stores::compare;

/// Of what make the server is. The stores of the family differ in all of it at once.
enum class server_make {
    with_clock,  ///< as a database: ends are times, the dead stay to be seen, the line is looked at afterwards
    without_clock,  ///< as etcd: what belongs to a session goes with it, and the line is compared with the head
};

/// What a broken server of this kind does, to show that those who watch it would see it.
struct server_flaws {
    bool forgets_stamps{false};  ///< a step is carried out whatever its head's stamp is
    bool forgets_generations{
        false};                   ///< a step is carried out whatever its session's generation is
    bool counts_the_dead{false};  ///< dead sessions are told as alive
    /// The second branch looks at the name before it joins the line; nor is it looked at by a step that only writes to
    /// others, which would show the same.
    bool looks_first{false};
    bool forgets_leavers{false};   ///< who leaves the line without having been let in stays there
    bool kills_the_living{false};  ///< some signs of life are answered as if the session were dead
    bool forgets_ballots{false};   ///< a step is carried out whatever its ballot is
    bool takes_life_back{false};   ///< a sign of life that was late on its way sets the end back
    /// No flaw: as in a database, whose statements see what was there when they began, others see who has joined the
    /// line by the second branch only some time after the head was compared. A server without a clock never does this.
    bool shows_joiners_late{false};
};

/// What the server tells of its own accord.
class server_listener {
public:
    virtual void on_letter(compare::session_id to, std::string const& body,
                           compare::stamp written) = 0;
    virtual void on_changed(compare::name_key const& key) = 0;
    virtual void on_session_end(compare::session_id which) = 0;

protected:
    ~server_listener() = default;
};

/// Thread-safety: none. Listeners outlive it, or are forgotten before they end.
class document_server {
public:
    using time = seam::store_time;

    explicit document_server(server_make make, server_flaws flaws = {})
        : make_{make}, flaws_{flaws} {}

    [[nodiscard]] bool has_clock() const noexcept { return make_ == server_make::with_clock; }
    [[nodiscard]] server_flaws const& flaws() const noexcept { return flaws_; }
    [[nodiscard]] bool shows_joiners_late() const noexcept {
        return has_clock() && flaws_.shows_joiners_late;
    }

    /// What ends by itself ends here: every other function begins with it.
    void advance(time now);
    /// When the next session ends unless it is kept.
    [[nodiscard]] std::optional<time> next_end() const;

    /// opened | rejected: a session of that name is dead.
    compare::outcome open(compare::session_id id, std::chrono::milliseconds lease, std::string body,
                          server_listener* owner, time now);
    compare::kept keep(compare::session_id id, time now);
    compare::outcome raise(compare::session_id id, time now);
    void end(compare::session_id id, time now);

    compare::view look(compare::name_query const& what, time now);
    compare::names list(compare::listing const& what, time now);

    void watch(compare::name_key const& key, server_listener* who);
    void unwatch(compare::name_key const& key, server_listener* who);
    void watch_session(compare::session_id id, server_listener* who, time now);
    void unwatch_session(compare::session_id id, server_listener* who);
    void forget(server_listener* who);

    /// What the server must be asked for in a step is asked for in up to three moments, between which others may
    /// be served; see `step_run`. Whether anybody stands in the line whom the step has not seen, but for `own` places.
    [[nodiscard]] bool anybody_behind(compare::step const& what,
                                      std::vector<std::uint64_t> const& own = {}) const;
    /// As a sequence gives them: before others can see who has it.
    [[nodiscard]] std::uint64_t draw_place() { return static_cast<std::uint64_t>(next_stamp()); }
    /// The guard, the conditions and what follows from them, at once. Of the second branch the view is missing.
    compare::outcome judge(compare::step const& what, bool anybody_behind, time now);
    /// Of the second branch, where joiners are shown late; otherwise it was done with the judgement.
    void join_line(compare::step const& what);

    /// A letter by itself, from somebody who can write to the store.
    void write_letter(compare::letter const& note) { deliver(note, next_stamp()); }

    /// Everything that there is, for those who look for leftovers.
    [[nodiscard]] std::vector<compare::name_key> all_names() const;

private:
    struct session {
        std::string body;
        compare::generation current{};
        std::chrono::milliseconds lease{};
        time ends{};
        bool alive{true};
        server_listener* owner{nullptr};
    };
    struct document {
        compare::stamp written{};
        compare::head_write head;
        std::map<std::uint64_t, compare::line_item> line;
    };

    [[nodiscard]] bool alive(compare::session_id id) const;
    [[nodiscard]] compare::session_state state_of(compare::session_id id, bool bodies) const;
    [[nodiscard]] bool stands(document const& where, compare::line_item const& item) const;
    [[nodiscard]] bool conditions_hold(compare::step const& what, bool anybody_behind) const;
    std::uint64_t append(document& where, compare::line_item const& item);
    compare::outcome carry_out(compare::step const& what);
    void deliver(compare::letter const& note, compare::stamp written);
    void die(compare::session_id id, session& which);
    void remove_what_belongs_to(compare::session_id id);
    void tell_watchers(compare::name_key const& key);
    void drop_if_empty(compare::name_key const& key);
    compare::stamp next_stamp() { return compare::stamp{++last_stamp_}; }

    server_make make_;
    server_flaws flaws_;
    std::uint64_t last_stamp_{1'000};
    std::uint64_t signs_of_life_{0};
    std::map<compare::session_id, session> sessions_;
    std::map<compare::name_key, document> documents_;
    std::map<compare::name_key, seam::sequence> ballots_;  ///< the last one of each name
    // Whoever asked first is told first: an order by address would differ from run to run.
    std::vector<std::pair<compare::name_key, server_listener*>> watches_;
    std::vector<std::pair<compare::session_id, server_listener*>> session_watches_;
};

/// One step on its way through the server. A server that compares the line with the head does all of it at one
/// moment; the other one looks at the line, writes, and looks again.
class step_run {
public:
    explicit step_run(compare::step what) : step_{std::move(what)} {}

    /// Goes on; true when it is done.
    bool advance(document_server& server, document_server::time now);
    [[nodiscard]] compare::outcome take() { return std::move(outcome_); }
    [[nodiscard]] compare::step const& what() const noexcept { return step_; }

private:
    void draw_places(document_server& server);
    bool finish(document_server& server, document_server::time now);
    void look_too_early(document_server& server, document_server::time now);

    compare::step step_;
    int moment_{0};
    bool anybody_behind_{false};
    std::optional<compare::view> seen_too_early_{};
    compare::outcome outcome_{compare::fenced{}};
};

}  // namespace holdfast::driver_tests
