// The statements of a driver's calls, and what their answers mean.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "stores/compare/driver.hpp"
#include "stores/compare/store_times.hpp"
#include "stores/postgres/answer.hpp"
#include "stores/postgres/schema.hpp"
#include "stores/sql/driver.hpp"

namespace holdfast::stores::postgres {

/// Every answer begins with the server's time and its clock, in the first two columns of its first row.
///
/// Thread-safety: none; its owner serialises.
class statements {
public:
    explicit statements(std::string const& prefix);

    /// -> generation, lease, when it began
    [[nodiscard]] statement open(compare::session_id id, std::chrono::milliseconds lease,
                                 std::string const& channel, std::string body) const;
    /// -> a row for each that lives, with its id and when its lease began; an empty one when none does
    [[nodiscard]] statement keep(std::vector<compare::session_id> const& ids) const;
    /// -> the new generation; null when the session is dead
    [[nodiscard]] statement raise(compare::session_id id) const;
    [[nodiscard]] statement close(compare::session_id id) const;
    /// Whoever finds a session expired ends it for good before saying so: its sign of life may be under way.
    [[nodiscard]] statement reap(std::vector<compare::session_id> const& ids) const;
    /// -> id and microseconds left, for each that is there
    [[nodiscard]] statement look_at(std::vector<compare::session_id> const& ids) const;

    /// -> rows for `read_view`
    [[nodiscard]] statement look(compare::name_query const& what) const;
    /// -> rows for `read_views`. Where statements are planned each time it takes little longer than one name does. Only if
    /// `looks_alike`.
    [[nodiscard]] statement look(std::vector<compare::name_query> const& what) const;
    /// -> names
    [[nodiscard]] statement list(compare::listing const& what) const;

    /// For a step with a ballot: until the end of its transaction no other step on the name is carried out.
    [[nodiscard]] statement lock_name(compare::name_key const& key) const;
    /// -> whether the guard held, the stamp when the first branch was carried out, the places given
    [[nodiscard]] statement step(compare::step const& what) const;
    /// -> the last places that are taken
    [[nodiscard]] statement look_behind(compare::name_key const& key) const;
    static constexpr std::int64_t most_behind = 100;

    [[nodiscard]] statement watch(compare::name_key const& key, std::string const& channel) const;
    [[nodiscard]] statement unwatch(compare::name_key const& key, std::string const& channel) const;
    /// Says something on a channel.
    [[nodiscard]] statement notify(std::string const& channel, std::string payload) const;

    static constexpr std::chrono::seconds watch_kept{60};  ///< unless it is asked for again

private:
    [[nodiscard]] statement_text const& shaped(std::uint32_t shape) const;

    schema const tables_;
    statement_text open_, keep_, raise_, close_, reap_, look_at_, look_, look_claims_, look_names_,
        look_ballot_, look_ballot_claims_, list_, list_waited_, look_behind_, lock_name_, watch_,
        unwatch_, notify_;
    mutable std::map<std::uint32_t, statement_text> steps_;  ///< by what a step consists of
};

/// The text of a step that consists of certain parts; see step_text.cpp.
struct step_shape {
    enum part : std::uint32_t {
        has_head = 1,  ///< the name had a head
        writes = 2,    ///< the head gets a body
        erases = 4,    ///< or loses it
        bounded = 8,   ///< takes no effect later than a moment
        needs_present = 16,
        needs_nobody = 32,
        leaves = 64,
        appends = 128,
        has_letters = 256,
        announces = 512,
        appends_otherwise = 1024,
        votes = 2048,    ///< it has a ballot
        compares = 4096  ///< which has to exceed the others
    };
    [[nodiscard]] static std::uint32_t of(compare::step const& what);
    [[nodiscard]] static std::string text(std::uint32_t shape, schema const& tables);
};

[[nodiscard]] sql::viewed read_view(rows const& from, compare::name_query const& what);
/// Of a look at several names: one for each.
[[nodiscard]] std::vector<sql::viewed> read_views(rows const& from,
                                                  std::vector<compare::name_query> const& what);
/// Whether these are several that one look can be for.
[[nodiscard]] bool looks_alike(std::vector<compare::name_query> const& what);

/// The time and the clock that an answer shows.
[[nodiscard]] compare::reading read_time(rows const& from);

}  // namespace holdfast::stores::postgres
