#include "compare/document_server.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace holdfast::driver_tests {

using namespace stores::compare;

namespace {

template <class Key>
void add_once(std::vector<std::pair<Key, server_listener*>>& watches, Key const& key,
              server_listener* who) {
    std::pair const made{key, who};
    if (std::ranges::find(watches, made) == watches.end()) watches.push_back(made);
}

}  // namespace

void document_server::advance(time now) {
    for (auto& [id, one] : sessions_)
        if (one.alive && one.ends <= now) die(id, one);
}

std::optional<document_server::time> document_server::next_end() const {
    std::optional<time> first;
    for (auto const& [id, one] : sessions_)
        if (one.alive && (!first || one.ends < *first)) first = one.ends;
    return first;
}

void document_server::die(session_id id, session& which) {
    which.alive = false;
    if (!has_clock()) remove_what_belongs_to(id);
    std::vector<server_listener*> told;
    std::erase_if(session_watches_, [&](auto const& watch) {
        if (watch.first != id) return false;
        told.push_back(watch.second);
        return true;
    });
    for (server_listener* const who : told)
        who->on_session_end(id);
}

void document_server::remove_what_belongs_to(session_id id) {
    std::vector<name_key> keys;
    for (auto& [key, one] : documents_) {
        bool touched = std::erase_if(one.line, [&](auto const& item) {
                           return item.second.session == id;
                       }) > 0;
        if (one.written != stamp{} && one.head.bound == id) {
            one.written = {};
            one.head = {};
            tell_watchers(key);
            touched = true;
        }
        if (touched) keys.push_back(key);
    }
    if (!keys.empty()) next_stamp();
    for (name_key const& key : keys)
        drop_if_empty(key);
}

void document_server::drop_if_empty(name_key const& key) {
    auto const found = documents_.find(key);
    if (found != documents_.end() && found->second.written == stamp{} && found->second.line.empty())
        documents_.erase(found);
}

void document_server::tell_watchers(name_key const& key) {
    for (auto const& [watched, who] : watches_)
        if (watched == key) who->on_changed(key);
}

outcome document_server::open(session_id id, std::chrono::milliseconds lease, std::string body,
                              server_listener* owner, time now) {
    advance(now);
    auto const [where, fresh] = sessions_.try_emplace(id);
    session& one = where->second;
    if (!one.alive) return rejected{base::error{errc::lost, "this session has ended"}};
    if (fresh) one = session{std::move(body), next_stamp(), lease, now + lease, true, owner};
    return opened{one.current, one.lease, one.ends - one.lease};
}

kept document_server::keep(session_id id, time now) {
    advance(now);
    if (!alive(id)) return {id, kept::state::dead, {}};
    if (flaws_.kills_the_living && ++signs_of_life_ % 16 == 0) return {id, kept::state::dead, {}};
    // A sign of life that was late on its way takes nothing back.
    auto const ends = now + sessions_[id].lease;
    auto const least = flaws_.takes_life_back ? ends : sessions_[id].ends;
    sessions_[id].ends = std::max(least, ends);
    return {id, kept::state::alive, now};
}

outcome document_server::raise(session_id id, time now) {
    advance(now);
    if (!alive(id)) return fenced{};
    return raised{sessions_[id].current = next_stamp()};
}

void document_server::end(session_id id, time now) {
    advance(now);
    if (alive(id)) die(id, sessions_[id]);
}

bool document_server::alive(session_id id) const {
    auto const found = sessions_.find(id);
    return found != sessions_.end() && found->second.alive;
}

session_state document_server::state_of(session_id id, bool bodies) const {
    session_state out{id, alive(id) || flaws_.counts_the_dead, {}, {}};
    auto const found = sessions_.find(id);
    if (found == sessions_.end()) return out;
    if (has_clock()) out.expires = found->second.ends;
    if (bodies) out.body = found->second.body;
    return out;
}

view document_server::look(name_query const& what, time now) {
    advance(now);
    view out{};
    out.key = what.key;
    std::set<session_id> asked{what.sessions.begin(), what.sessions.end()};
    if (auto const found = documents_.find(what.key); found != documents_.end()) {
        document const& one = found->second;
        out.written = one.written;
        out.body = one.head.body;
        for (auto const& [place, item] : one.line) {
            bool const first = out.line.size() < what.line;
            out.more = !first;
            bool const wanted = std::ranges::find(what.claims, item.id) != what.claims.end();
            if (!first && !wanted) continue;
            (first ? out.line : out.others).push_back(item);
            asked.insert(item.session);
        }
        // The other make would have to ask a second time, for names that it has only just read.
        if (has_clock() || what.bodies)
            asked.insert(one.head.sessions.begin(), one.head.sessions.end());
    }
    if (auto const last = ballots_.find(what.key); what.ballot && last != ballots_.end())
        out.ballot = last->second;
    for (session_id const id : asked)
        out.sessions.push_back(state_of(id, what.bodies));
    return out;
}

names document_server::list(listing const& what, time now) {
    advance(now);
    names out;
    for (auto const& [key, one] : documents_) {
        if (!key.name.starts_with(what.prefix) || (what.waited_for && one.line.empty())) continue;
        if (!what.after.empty() && key.name <= what.after) continue;
        if (!out.found.empty() && out.found.back() == key.name) continue;
        if (out.found.size() == what.most) break;
        out.found.push_back(key.name);
    }
    return out;
}

void document_server::watch(name_key const& key, server_listener* who) {
    add_once(watches_, key, who);
}

void document_server::unwatch(name_key const& key, server_listener* who) {
    std::erase(watches_, std::pair{key, who});
}

void document_server::watch_session(session_id id, server_listener* who, time now) {
    advance(now);
    if (!alive(id))
        who->on_session_end(id);
    else
        add_once(session_watches_, id, who);
}

void document_server::unwatch_session(session_id id, server_listener* who) {
    std::erase(session_watches_, std::pair{id, who});
}

void document_server::forget(server_listener* who) {
    std::erase_if(watches_, [&](auto const& watch) { return watch.second == who; });
    std::erase_if(session_watches_, [&](auto const& watch) { return watch.second == who; });
    for (auto& [id, one] : sessions_)
        if (one.owner == who) one.owner = nullptr;
}

bool document_server::anybody_behind(step const& what,
                                     std::vector<std::uint64_t> const& own) const {
    auto const found = documents_.find(what.key);
    if (!what.nobody_behind || found == documents_.end()) return false;
    auto const is_in = [](std::vector<std::uint64_t> const& places, std::uint64_t place) {
        return std::ranges::find(places, place) != places.end();
    };
    return std::ranges::any_of(found->second.line, [&](auto const& item) {
        if (!has_clock()) return item.first > *what.nobody_behind;
        return !is_in(what.seen_places, item.first) && !is_in(own, item.first);
    });
}

bool document_server::stands(document const& where, line_item const& item) const {
    auto const found = where.line.find(item.place);
    return found != where.line.end() && found->second.id == item.id &&
           found->second.session == item.session;
}

bool document_server::conditions_hold(step const& what, bool anybody_behind) const {
    auto const found = documents_.find(what.key);
    document const one = found == documents_.end() ? document{} : found->second;
    bool const only_tells =
        !what.head && what.leave.empty() && what.append.empty() && what.append_otherwise.empty();
    bool const same =
        one.written == what.expected || flaws_.forgets_stamps || (flaws_.looks_first && only_tells);
    auto const last = ballots_.find(what.key);
    bool const outvoted = what.ballot && what.ballot->compared && last != ballots_.end() &&
                          what.ballot->number <= last->second && !flaws_.forgets_ballots;
    return same && !outvoted && !(what.nobody_behind && anybody_behind) &&
           std::ranges::all_of(what.present,
                               [&](line_item const& item) { return stands(one, item); });
}

std::uint64_t document_server::append(document& where, line_item const& item) {
    auto const same = [&](auto const& other) {
        return other.second.id == item.id && other.second.session == item.session;
    };
    if (auto const found = std::ranges::find_if(where.line, same); found != where.line.end())
        return found->first;
    // As in a store whose keys are made of clients and indexes.
    for (auto const& [at, other] : where.line)
        if (!flaws_.forgets_leavers && other.id.client == item.id.client && item.id.index() != 0 &&
            other.id.index() == item.id.index() && alive(other.session))
            throw std::logic_error{"two claims of a client have one index"};
    auto const place = item.place != 0 ? item.place : draw_place();
    line_item placed = item;
    placed.place = place;
    where.line.emplace(place, std::move(placed));
    return place;
}

outcome document_server::judge(step const& what, bool anybody_behind, time now) {
    advance(now);
    if (!alive(what.self)) return fenced{};
    if (sessions_[what.self].current != what.of && !flaws_.forgets_generations) return fenced{};
    if (has_clock() && what.not_after && now > *what.not_after) return fenced{true};
    if (conditions_hold(what, anybody_behind)) return carry_out(what);
    if (!shows_joiners_late()) join_line(what);
    return missed{};
}

void document_server::join_line(step const& what) {
    for (line_item const& item : what.append_otherwise)
        append(documents_[what.key], item);
}

outcome document_server::carry_out(step const& what) {
    document& one = documents_[what.key];
    committed out{};
    bool const stay = flaws_.forgets_leavers && !what.head;
    for (line_item const& item : what.leave)
        if (stands(one, item) && !stay) one.line.erase(item.place);
    for (line_item const& item : what.append)
        out.places.push_back(append(one, item));
    out.written = next_stamp();
    if (what.head) {
        one.head = *what.head;
        one.written = what.head->erase ? stamp{} : out.written;
        // Who is bound to a session that is dead already goes at once.
        if (!has_clock() && one.head.bound && !alive(*one.head.bound)) one.written = {};
        if (one.written == stamp{}) one.head = {};
        if (what.head->announced) tell_watchers(what.key);
    }
    if (what.ballot) {
        auto& last = ballots_[what.key];
        last = std::max(last, what.ballot->number);
    }
    for (letter const& note : what.letters)
        deliver(note, out.written);
    drop_if_empty(what.key);
    return out;
}

void document_server::deliver(letter const& note, stamp written) {
    auto const to = sessions_.find(note.to);
    if (to != sessions_.end() && to->second.alive && to->second.owner != nullptr)
        to->second.owner->on_letter(note.to, note.body, written);
}

std::vector<name_key> document_server::all_names() const {
    std::vector<name_key> out;
    for (auto const& [key, one] : documents_)
        out.push_back(key);
    return out;
}

bool step_run::advance(document_server& server, document_server::time now) {
    bool const apart = server.has_clock();
    auto const look_behind = [&] { anybody_behind_ = server.anybody_behind(step_); };
    switch (moment_++) {
    case 0:
        draw_places(server);
        look_behind();
        look_too_early(server, now);
        if (apart || seen_too_early_) return false;
        [[fallthrough]];
    case 1:
        moment_ = 2;
        if (!apart) look_behind();
        outcome_ = server.judge(step_, anybody_behind_, now);
        if (apart && !std::holds_alternative<fenced>(outcome_)) return false;
        [[fallthrough]];
    default: return finish(server, now);
    }
}

// A server of the other make gives a place at the moment at which it is seen.
void step_run::draw_places(document_server& server) {
    for (auto* const items : {&step_.append, &step_.append_otherwise})
        for (line_item& item : *items)
            item.place = server.has_clock() ? server.draw_place() : 0;
}

void step_run::look_too_early(document_server& server, document_server::time now) {
    if (!server.flaws().looks_first || step_.append_otherwise.empty()) return;
    name_query what = step_.otherwise;
    what.key = step_.key;
    view seen = server.look(what, now);
    for (line_item const& item : step_.append_otherwise)
        if (std::ranges::find(seen.line, item.id, &line_item::id) == seen.line.end())
            seen.line.push_back(item);
    seen_too_early_ = std::move(seen);
}

bool step_run::finish(document_server& server, document_server::time now) {
    auto const look = [&] {
        name_query what = step_.otherwise;
        what.key = step_.key;
        return server.look(what, now);
    };
    auto* const missing = std::get_if<missed>(&outcome_);
    if (missing != nullptr && server.shows_joiners_late()) server.join_line(step_);
    if (missing != nullptr) missing->found = seen_too_early_ ? *seen_too_early_ : look();
    if (auto* const done = std::get_if<committed>(&outcome_))
        if (server.has_clock() && server.anybody_behind(step_, done->places)) done->behind = look();
    return true;
}

}  // namespace holdfast::driver_tests
