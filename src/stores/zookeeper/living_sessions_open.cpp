// How a session begins: a session of ZooKeeper's, its record, its box.
#include <utility>

#include "stores/compare/store_times.hpp"
#include "stores/zookeeper/living_sessions.hpp"

namespace holdfast::stores::zookeeper {

using std::chrono::milliseconds;

void living_sessions::open(compare::ticket which, compare::session_id id, milliseconds lease,
                           std::string body) {
    if (body.empty()) return open_end(which, id, lease);
    if (ended_.contains(id))
        return with_.tell(which, compare::rejected{{errc::store_unavailable,
                                                    "the session ended before it was opened"}});
    if (auto* const session = known(id)) {
        session->opening.push_back(which);
        if (session->open) return tell_open(*session);
        if (session->opening.size() == 1) write_record(id);
        return;
    }
    auto& session = *all_.emplace(id, std::make_unique<living_session>(living_session{
                                          .id = id, .signs = signs_of_life{with_.given.tick}}))
                         .first->second;
    session.body = std::move(body);
    session.opening.push_back(which);
    begin(session, lease);
}

void living_sessions::begin(living_session& session, milliseconds lease) {
    session.life = std::make_unique<session_handle>(
        with_.surroundings(), ++with_.last_tag,
        signs_of_life::time_out_for(lease, with_.given.tick),
        session_handle::listener{.on_connected = [this, id = session.id] { on_connected(id); },
                                 .on_lost =
                                     [this] {
                                         with_.doubt("the connection to ZooKeeper at " +
                                                     with_.given.shown() +
                                                     " that keeps a session alive is lost");
                                     },
                                 .on_expired = [] {},
                                 .on_event = [](std::string const&) {}});
    write_record(session.id);
}

void living_sessions::on_connected(compare::session_id id) {
    auto* const session = known(id);
    if (session == nullptr) return;
    // A server that gives it less time than it had: what was told of the lease is not true any more.
    if (session->life->session_timeout() < session->signs.given()) {
        with_.doubt("ZooKeeper at " + with_.given.shown() +
                    " has shortened the time-out of a session; look at maxSessionTimeout of all "
                    "servers");
        return end(id);
    }
    // Whoever takes the session over asks the leader, who counts from then on.
    session->signs.note_counted(session->life->begun());
    session->life->let_pass();
}

void living_sessions::write_record(compare::session_id id) {
    auto const path = with_.at.session(id);
    auto const& session = *known(id);
    session.life->send(
        {.what = request::kind::together,
         .operations =
             {{.what = operation::kind::create, .path = path, .mode = ZOO_EPHEMERAL},
              {.what = operation::kind::set, .path = path, .data = session.body, .version = 0}},
         .then = [this, id](answer& from) { on_record(id, from); }});
    // It may have been answered already, and have failed.
    if (auto const* const own = known(id)) own->life->tend(base::boot_clock::now());
}

void living_sessions::on_record(compare::session_id id, answer const& from) {
    auto* const session = known(id);
    if (session == nullptr) return;
    // Made by a try of which nothing was heard, or by somebody else.
    if (from.code == ZNODEEXISTS) return read_record(id);
    // Before the folders are there, it is for the common session to make them.
    if (from.code == ZNONODE && !std::exchange(session->retried, true))
        return write_after_folders(id);
    if (from.code != ZOK) return fail_opening(*session, with_.judged(from));
    session->current = stamp_of(from.stat.mzxid);
    session->version = from.stat.version;
    session->signs.set_given(session->life->session_timeout());
    confirm(*session, from);
    mail_.open(id, [this, id](fault const& trouble) {
        auto* const own = known(id);
        if (own == nullptr) return;
        if (trouble) return fail_opening(*own, trouble);
        own->open = true;
        tell_open(*own);
        if (!std::exchange(swept_, true)) mail_.sweep();
    });
}

void living_sessions::read_record(compare::session_id id) {
    known(id)->life->send({.what = request::kind::get,
                           .path = with_.at.session(id),
                           .then = [this, id](answer& node) {
                               auto const* const session = known(id);
                               if (session == nullptr) return;
                               if (node.code == ZOK &&
                                   node.stat.ephemeralOwner != session->life->session())
                                   node.code = ZNOAUTH;
                               node.when = session->signs.counted();  // a look proves nothing
                               on_record(id, node);
                           }});
}

void living_sessions::write_after_folders(compare::session_id id) {
    common_.exists(with_.at.sessions(), [this, id](answer const& there) {
        auto* const session = known(id);
        if (session == nullptr) return;
        if (there.code != ZOK) return fail_opening(*session, with_.judged(there));
        write_record(id);
    });
}

void living_sessions::tell_open(living_session& session) {
    for (auto const each : std::exchange(session.opening, {}))
        with_.tell(each, compare::opened{.current = session.current,
                                         .lease = session.signs.lease(),
                                         .began = compare::store_time_of(session.began)});
}

void living_sessions::fail_opening(living_session& session, fault const& trouble) {
    for (auto const each : std::exchange(session.opening, {}))
        with_.tell(each, trouble);
    if (trouble.certain) end(session.id);
}

// An end is a node that stays, with its length in it. Whoever sees that its time is over removes it, and only then is
// it told as dead.
void living_sessions::open_end(compare::ticket which, compare::session_id id, milliseconds span) {
    auto const path = with_.at.session(id);
    auto const made = base::boot_clock::now();
    common_.together(
        {{.what = operation::kind::create, .path = path},
         {.what = operation::kind::set, .path = path, .data = std::to_string(span.count())}},
        [this, which, span, made](answer const& from) {
            if (from.code != ZOK && from.code != ZNODEEXISTS)
                return with_.tell(which, with_.judged(from));
            if (from.code == ZOK) with_.clock.note(from.stat);
            with_.tell(which, compare::opened{.current = stamp_of(from.stat.mzxid),
                                              .lease = span,
                                              .began = compare::store_time_of(made)});
        });
}

}  // namespace holdfast::stores::zookeeper
