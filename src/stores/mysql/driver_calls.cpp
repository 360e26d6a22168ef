// The calls of the driver.
#include <algorithm>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "stores/mysql/driver.hpp"
#include "stores/mysql/fault.hpp"

namespace holdfast::stores::mysql {

namespace {

constexpr std::chrono::seconds sweep_every{60};
constexpr std::size_t most_contended = 4096;  ///< names that are remembered
constexpr int most_tries = 20;
/// A letter may be read so long after the end of its session by our own clock.
constexpr std::chrono::seconds after_end{5};

compare::reading time_in(answer const& found, std::size_t result = 0) {
    return {store_time_of(number_in(found.first(result)[0])), found.clock};
}

std::set<std::string_view> places_in(std::optional<std::string> const& words) {
    std::set<std::string_view> out;
    std::string_view left = words ? std::string_view{*words} : std::string_view{};
    while (!left.empty()) {
        auto const end = left.find(',');
        out.insert(left.substr(0, end));
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    return out;
}

}  // namespace

// --- sessions ----------------------------------------------------------------------------------

void driver::open(compare::ticket which, compare::session_id id, std::chrono::milliseconds lease,
                  std::string body) {
    guard const held{mutex_};
    if (!enter(which)) return;
    ask(which, packets::open(id, lease, body), [this, which, id](answer const& found) {
        if (found.results[0].empty())
            return tell(
                which,
                compare::rejected{{errc::store_unavailable, "the session has ended already"}}, {});
        auto const& made = found.first();
        std::chrono::milliseconds const given{number_in(made[2])};
        own_[id] = {given, now_ + given + after_end};
        mail_at_ = std::min(mail_at_, now_);
        tell(which,
             compare::opened{compare::generation{number_in(made[1])}, given,
                             store_time_of(number_in(made[3]))},
             time_in(found));
    });
}

void driver::keep(compare::ticket which, std::vector<compare::session_id> ids) {
    guard const held{mutex_};
    if (!enter(which)) return;
    // With the letters that are there: whoever renews knows what was said before.
    auto text = packets::keep(ids) + ";" + packets::mail(addresses(), read_, false, {});
    ask(which, std::move(text), [this, which, ids](answer const& found) {
        auto const when = time_in(found);
        if (take_letters(found.results[2])) hasten();
        std::set<compare::session_id> alive;
        for (auto const& each : found.results[1])
            alive.insert(compare::session_id{number_in(each[0])});
        std::vector<compare::kept> out;
        for (auto const id : ids) {
            bool const lives = alive.contains(id);
            out.push_back(
                {id, lives ? compare::kept::state::alive : compare::kept::state::dead, when.now});
            auto const known = own_.find(id);
            if (known == own_.end()) continue;
            lives ? void(known->second.until = now_ + known->second.lease + after_end)
                  : void(own_.erase(known));
            mail_at_ = std::min(mail_at_, now_);
        }
        tell(which, std::move(out), when);
    });
    sweep();
}

void driver::raise(compare::ticket which, compare::session_id id) {
    guard const held{mutex_};
    if (!enter(which)) return;
    ask(which, packets::raise(id), [this, which](answer const& found) {
        auto const& current = found.first()[1];
        if (!current) return tell(which, compare::fenced{}, time_in(found));
        tell(which, compare::raised{compare::generation{number_in(current)}}, time_in(found));
    });
}

void driver::close(compare::session_id id) noexcept {
    guard const held{mutex_};
    own_.erase(id);
    if (shut_ || abandoned_ || !pool_.is_up()) return;
    now_ = base::boot_clock::now();
    send(packets::close(id), [](answer const&) {});
}

// One client in a minute does it for all.
void driver::sweep() {
    if (now_ < sweep_at_) return;
    sweep_at_ = now_ + sweep_every;
    send(packets::sweep_turn(), [this](answer const& turn) {
        if (!turn.lost && turn.error == 0 && !turn.results[0].empty()) sweep_leftovers();
    });
}

// What a session has left is found when the session is gone.
void driver::sweep_leftovers() {
    send(packets::find_leftovers(), [this](answer const& found) {
        if (found.lost || found.error != 0) return;
        bool const again = !found.results[0].empty();
        send(packets::sweep(found), [this, again](answer const& swept) {
            if (again && !swept.lost && swept.error == 0) sweep_leftovers();
        });
    });
}

// --- names -------------------------------------------------------------------------------------

void driver::look(compare::ticket which, std::vector<compare::name_query> what,
                  std::vector<compare::session_id> expired, view_reader then) {
    bool const again = !expired.empty();
    std::string text;
    if (again) text = packets::reap(expired);
    for (auto const& each : what)
        text += (text.empty() ? "" : ";") + packets::look(each);
    ask(which, std::move(text),
        [this, which, what = std::move(what), again, then = std::move(then)](answer const& found) {
            std::vector<compare::view> out;
            std::vector<compare::session_id> over;
            auto closer = what;
            compare::reading when{};
            for (std::size_t i = 0; i < what.size(); ++i) {
                auto one = read_view(found, i, what[i]);
                when = one.when;
                out.push_back(std::move(one.found));
                over.insert(over.end(), one.expired.begin(), one.expired.end());
                // Those that are not told are asked for, as if they were over.
                over.insert(over.end(), one.untold.begin(), one.untold.end());
                auto& named = closer[i].sessions;
                named.insert(named.end(), one.untold.begin(), one.untold.end());
            }
            if (!over.empty() && !again) return look(which, closer, over, then);
            then(std::move(out), when);
        });
}

void driver::fetch(compare::ticket which, compare::query what) {
    guard const held{mutex_};
    if (!enter(which)) return;
    bool const nothing = what.names.empty();
    if (nothing) what.names.emplace_back();
    look(which, std::move(what.names), {},
         [this, which, nothing](std::vector<compare::view> found, compare::reading when) {
             if (nothing) found.clear();
             tell(which, compare::views{std::move(found)}, when);
         });
}

void driver::list(compare::ticket which, compare::listing what) {
    guard const held{mutex_};
    if (!enter(which)) return;
    ask(which, packets::list(what), [this, which](answer const& found) {
        compare::names out;
        for (auto const& each : found.results[1])
            out.found.push_back(*each[0]);
        tell(which, std::move(out), time_in(found));
    });
}

void driver::watch(compare::ticket which, compare::name_key key) {
    guard const held{mutex_};
    if (!enter(which)) return;
    watched_.try_emplace(key);
    ask(which, packets::change_of(key), [this, which, key](answer const& found) {
        auto const known = watched_.find(key);
        if (known != watched_.end() && !known->second)
            known->second = compare::stamp{number_in(found.first()[1])};
        hasten();
        tell(which, compare::in_force{}, time_in(found));
    });
}

void driver::unwatch(compare::name_key key) noexcept {
    guard const held{mutex_};
    watched_.erase(key);
}

void driver::watch_session(compare::session_id id) {
    guard const held{mutex_};
    watched_sessions_[id] = base::boot_clock::now();
    poller_.wake();
}

void driver::unwatch_session(compare::session_id id) noexcept {
    guard const held{mutex_};
    watched_sessions_.erase(id);
}

// --- steps -------------------------------------------------------------------------------------

void driver::commit(compare::ticket which, compare::step what) {
    guard const held{mutex_};
    if (enter(which)) send_step(which, std::make_shared<compare::step>(std::move(what)), 0);
}

void driver::send_step(compare::ticket which, shared_step what, int tries) {
    bool const along = contended_.contains(what->key);
    auto text = packets::first_branch(*what);
    if (along) text += ";" + packets::second_branch(*what, true);
    send(std::move(text), [this, which, what, along, tries](answer const& found) {
        // The first branch has told that nothing came of it, and the second one was undone.
        bool const undone = found.undone || (!found.results.empty() && !found.first()[2]);
        if (undone && may_be_sent_again(found.error) && tries < most_tries)
            return send_step(which, what, tries + 1);
        if (found.lost || found.error != 0) return fail(which, found);
        on_stepped(which, what, along, found);
    });
}

void driver::on_stepped(compare::ticket which, shared_step const& what, bool along,
                        answer const& found) {
    auto const& told = found.first();
    auto const when = time_in(found);
    if (number_in(told[1]) == 0)
        return tell(which, compare::fenced{what->not_after && when.now > *what->not_after}, when);
    bool const carried_out = told[2].has_value();
    if (!what->append_otherwise.empty()) {
        if (contended_.size() >= most_contended) contended_.clear();
        carried_out ? void(contended_.erase(what->key)) : void(contended_.insert(what->key));
    }
    if (carried_out) return on_first_branch(which, what, found);
    if (along) return on_second_branch(which, what, found, 1);
    ask(which, packets::second_branch(*what, false),
        [this, which, what](answer const& second) { on_second_branch(which, what, second, 0); });
}

void driver::on_first_branch(compare::ticket which, shared_step const& what, answer const& found) {
    auto const& told = found.first();
    compare::committed out{compare::stamp{number_in(told[2])}, {}, {}};
    if (!what->append.empty()) hasten();
    // Somebody may have joined whom the step has not seen, also before those whom it has: a place is drawn before
    // others can see who has it.
    auto const seen = places_in(told[3]);
    auto const standing = places_in(told[4]);
    if (std::ranges::includes(seen, standing)) return tell(which, std::move(out), time_in(found));
    look(which, {what->otherwise}, {},
         [this, which, out](std::vector<compare::view> behind, compare::reading when) mutable {
             out.behind = std::move(behind.front());
             tell(which, std::move(out), when);
         });
}

void driver::on_second_branch(compare::ticket which, shared_step const& what, answer const& found,
                              std::size_t result) {
    if (!what->append_otherwise.empty()) {
        auto const when = time_in(found, result);
        if (number_in(found.first(result)[1]) == 0)
            return tell(which, compare::fenced{what->not_after && when.now > *what->not_after},
                        when);
        hasten();
        ++result;
    }
    auto one = read_view(found, result, what->otherwise);
    if (one.expired.empty() && one.untold.empty())
        return tell(which, compare::missed{std::move(one.found)}, one.when);
    auto closer = what->otherwise;
    closer.sessions.insert(closer.sessions.end(), one.untold.begin(), one.untold.end());
    one.expired.insert(one.expired.end(), one.untold.begin(), one.untold.end());
    look(which, {closer}, one.expired,
         [this, which](std::vector<compare::view> seen, compare::reading when) {
             tell(which, compare::missed{std::move(seen.front())}, when);
         });
}

}  // namespace holdfast::stores::mysql
