// Sessions: each a session of ZooKeeper's own, with a record and a box for letters.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/driver.hpp"
#include "stores/zookeeper/times.hpp"

namespace holdfast::stores::zookeeper {

namespace {

using std::chrono::milliseconds;

// A follower tells its leader once a tick who has spoken to it. So the leader counts from a moment that may lie as
// far back as the beat before the last one: a quarter of the time-out, for that is how often we write, and two ticks.
milliseconds lease_of(milliseconds given, milliseconds tick) {
    return std::max(given * 3 / 4 - 2 * tick, given / 8);
}
milliseconds time_out_for(milliseconds lease, milliseconds tick) {
    return std::min((lease + 2 * tick) * 4 / 3 + milliseconds{4}, milliseconds{1'000'000'000});
}

constexpr std::size_t most_remembered = 1000;

}  // namespace

void driver::open(compare::ticket which, compare::session_id id, milliseconds lease,
                  std::string body) {
    base::lock_guard const guard{mutex_};
    if (body.empty()) {
        open_end(which, id, lease);
    } else if (ended_.contains(id)) {
        tell(which, compare::rejected{
                        {errc::store_unavailable, "the session ended before it was opened"}});
    } else if (auto const known = own_.find(id); known == own_.end()) {
        auto& session = *own_.emplace(id, std::make_unique<own_session>()).first->second;
        session.id = id;
        session.body = std::move(body);
        session.opening.push_back(which);
        session.life = std::make_unique<link>(
            settings_, poller_, ++last_tag_, time_out_for(lease, settings_.tick),
            link::listener{.on_connected =
                               [this, &session] {
                                   // Whoever takes the session over asks the leader, who counts from then on.
                                   session.counted =
                                       std::max(session.counted, session.life->begun());
                                   session.life->let_pass();
                               },
                           .on_lost =
                               [this] {
                                   doubt("the connection to ZooKeeper at " + settings_.shown() +
                                         " that keeps a session alive is lost");
                               },
                           .on_expired = [] {},
                           .on_event = [](std::string const&) {}});
        write_record(session);
        session.life->tend(base::boot_clock::now());
    } else {
        auto& session = *known->second;
        session.opening.push_back(which);
        if (session.open)
            on_open(session);
        else if (session.opening.size() == 1)
            write_record(session);
    }
    settle();
}

void driver::write_record(own_session& session) {
    auto const path = paths_.session(session.id);
    session.life->send(
        {.what = request::kind::together,
         .operations =
             {{.what = operation::kind::create, .path = path, .mode = ZOO_EPHEMERAL},
              {.what = operation::kind::set, .path = path, .data = session.body, .version = 0}},
         .then = [this, id = session.id](answer& from) { on_record(id, from); }});
}

void driver::on_record(compare::session_id id, answer const& from) {
    auto const found = own_.find(id);
    if (found == own_.end()) return;
    auto& session = *found->second;
    if (from.code ==
        ZNODEEXISTS) {  // made by a try of which nothing was heard, or by somebody else
        session.life->send({.what = request::kind::get,
                            .path = paths_.session(id),
                            .then = [this, id](answer& node) {
                                auto const known = own_.find(id);
                                if (known == own_.end()) return;
                                bool const own =
                                    node.code != ZOK ||
                                    node.stat.ephemeralOwner == known->second->life->session();
                                if (!own) node.code = ZNOAUTH;
                                node.when = known->second->counted;  // a look proves nothing
                                on_record(id, node);
                            }});
        return;
    }
    if (from.code != ZOK) {
        // Before the folders are there, it is for the common session to make them.
        if (from.code == ZNONODE && !std::exchange(session.retried, true))
            return exists(paths_.sessions(), [this, id](answer const& there) {
                auto const known = own_.find(id);
                if (known == own_.end()) return;
                if (there.code != ZOK) return fail_opening(*known->second, judge(there));
                write_record(*known->second);
                known->second->life->tend(base::boot_clock::now());
            });
        return fail_opening(session, judge(from));
    }
    session.current = stamp_of(from.stat.mzxid);
    session.version = from.stat.version;
    session.given = session.life->session_timeout();
    session.lease = lease_of(session.given, settings_.tick);
    note_clock(from.stat);
    confirm(session, from);
    make_mailbox(id);
}

void driver::make_mailbox(compare::session_id id) {
    together({{.what = operation::kind::create, .path = paths_.mail(id)}},
             [this, id](answer const& from) {
                 auto const found = own_.find(id);
                 if (found == own_.end()) return;
                 if (from.code != ZOK && from.code != ZNODEEXISTS)
                     return fail_opening(*found->second, judge(from));
                 await_letter(id);
                 // Letters are heard of when that was asked for.
                 exists(paths_.mail(id), [this, id](answer const& there) {
                     auto const known = own_.find(id);
                     if (known == own_.end()) return;
                     if (there.code != ZOK) return fail_opening(*known->second, judge(there));
                     known->second->open = true;
                     on_open(*known->second);
                     if (!std::exchange(swept_, true)) sweep();
                 });
             });
}

void driver::on_open(own_session& session) {
    for (auto const each : std::exchange(session.opening, {}))
        tell(each, compare::opened{.current = session.current,
                                   .lease = session.lease,
                                   .began = store_time_of(session.began)});
}

void driver::fail_opening(own_session& session, fault const& trouble) {
    for (auto const each : std::exchange(session.opening, {}))
        tell(each, trouble);
    if (trouble.certain) end(session.id);
}

// An end is a node that stays, with its length in it. Whoever sees that its time is over removes it, and only then is
// it told as dead.
void driver::open_end(compare::ticket which, compare::session_id id, milliseconds span) {
    auto const path = paths_.session(id);
    auto const made = base::boot_clock::now();
    together({{.what = operation::kind::create, .path = path},
              {.what = operation::kind::set, .path = path, .data = std::to_string(span.count())}},
             [this, which, span, made](answer const& from) {
                 if (from.code != ZOK && from.code != ZNODEEXISTS) return tell(which, judge(from));
                 if (from.code == ZOK) note_clock(from.stat);
                 tell(which, compare::opened{.current = stamp_of(from.stat.mzxid),
                                             .lease = span,
                                             .began = store_time_of(made)});
             });
}

// --- signs of life -----------------------------------------------------------------------------

void driver::keep(compare::ticket which, std::vector<compare::session_id> ids) {
    base::lock_guard const guard{mutex_};
    struct keeping {
        std::vector<compare::kept> found;
        std::size_t left;
    };
    auto const state = std::make_shared<keeping>(keeping{{}, ids.size()});
    for (auto const id : ids)
        state->found.push_back({.id = id, .found = compare::kept::state::dead});
    auto const advance = [this, which, state] {
        if (--state->left == 0) tell(which, state->found);
    };
    if (ids.empty()) tell(which, state->found);
    for (std::size_t each = 0; each < ids.size(); ++each) {
        auto const known = own_.find(ids[each]);
        if (known == own_.end() || !known->second->open) {
            advance();
            continue;
        }
        beat(*known->second,
             [state, each, advance](compare::kept::state found, base::instant began) {
                 state->found[each].found = found;
                 state->found[each].began = store_time_of(began);
                 advance();
             });
        known->second->life->tend(base::boot_clock::now());
    }
    settle();
}

// A write, since only that is confirmed by a majority; a follower that is cut off answers everything else.
void driver::beat(own_session& session,
                  std::function<void(compare::kept::state, base::instant)> then) {
    session.next_beat = base::boot_clock::now() + session.given / 4;
    session.life->send(
        {.what = request::kind::together,
         .operations = {{.what = operation::kind::check, .path = paths_.session(session.id)},
                        {.what = operation::kind::set, .path = paths_.mail(session.id)}},
         .then = [this, id = session.id, then = std::move(then)](answer const& from) {
             using state = compare::kept::state;
             auto const found = own_.find(id);
             if (found == own_.end()) return then ? then(state::dead, {}) : void();
             auto& own = *found->second;
             if (from.code == ZOK) {
                 auto const before = own.began;
                 note_clock(from.stat);
                 confirm(own, from);
                 // Only who asks for it keeps a session alive.
                 if (!then) return static_cast<void>(own.began = before);
                 return then(state::alive, own.began);
             }
             bool const dead = from.code == ZNONODE || from.code == ZSESSIONEXPIRED;
             if (dead) end(id);
             if (then) then(dead ? state::dead : state::unknown, {});
         }});
}

// A write that was confirmed proves that whatever was said a tick before it has been counted. The leader's own count
// began with the first of those, and lasts for the whole time-out.
void driver::confirm(own_session& session, answer const& from) {
    for (auto const& each : session.beats)
        if (each.confirmed + settings_.tick <= from.when)
            session.counted = std::max(session.counted, each.sent);
    std::erase_if(session.beats, [&](auto const& each) { return each.sent < session.counted; });
    session.beats.push_back({from.when, base::boot_clock::now()});
    session.began = std::max(session.began,
                             std::min(from.when, session.counted + session.given - session.lease));
    session.next_beat = from.when + session.given / 4;
}

void driver::raise(compare::ticket which, compare::session_id id) {
    base::lock_guard const guard{mutex_};
    auto const known = own_.find(id);
    if (known == own_.end() || !known->second->open) {
        tell(which, compare::fenced{});
        return settle();
    }
    together(
        {{.what = operation::kind::set, .path = paths_.session(id), .data = known->second->body}},
        [this, which, id](answer const& from) {
            auto const found = own_.find(id);
            if (found == own_.end()) return tell(which, compare::fenced{});
            if (from.code == ZNONODE) {
                end(id);
                return tell(which, compare::fenced{});
            }
            if (from.code != ZOK) return tell(which, judge(from));
            note_clock(from.stat);
            found->second->current = stamp_of(from.stat.mzxid);
            found->second->version = from.stat.version;
            tell(which, compare::raised{found->second->current});
        });
    settle();
}

void driver::close(compare::session_id id) noexcept try {
    base::lock_guard const guard{mutex_};
    if (!own_.contains(id)) return;
    end(id);
    settle();
} catch (std::exception const&) {
    return;  // it ends by itself
}

// The session of ZooKeeper's ends as well, as soon as somebody drives.
void driver::end(compare::session_id id) {
    auto const found = own_.find(id);
    if (found == own_.end()) return;
    auto const session = std::move(found->second);
    own_.erase(found);
    if (ended_.size() == most_remembered) ended_.erase(ended_.begin());
    ended_.insert(id);
    watched_.erase(paths_.letter(id, session->next_letter));
    for (auto const each : session->opening)
        tell(each, compare::rejected{
                       {errc::store_unavailable, "the session ended before it was opened"}});
    over_.push_back(std::move(session->life));
    if (common_ && common_->is_connected()) clear_mail(id);
}

}  // namespace holdfast::stores::zookeeper
