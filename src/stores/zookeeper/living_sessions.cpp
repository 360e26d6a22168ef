#include "stores/zookeeper/living_sessions.hpp"

#include <algorithm>
#include <utility>

#include "stores/compare/store_times.hpp"

namespace holdfast::stores::zookeeper {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_remembered = 1000;

}  // namespace

living_session* living_sessions::known(compare::session_id id) {
    auto const found = all_.find(id);
    return found == all_.end() ? nullptr : found->second.get();
}

living_session const* living_sessions::find(compare::session_id id) const {
    auto const found = all_.find(id);
    return found == all_.end() || !found->second->open ? nullptr : found->second.get();
}

// --- driving -----------------------------------------------------------------------------------

void living_sessions::tend(base::instant now) {
    std::vector<compare::session_id> ids;
    for (auto const& [id, session] : all_)
        ids.push_back(id);
    for (auto const id : ids)
        tend(id, now);
}

void living_sessions::tend(compare::session_id id, base::instant now) {
    if (auto const* const session = known(id)) session->life->tend(now);
    auto* const session = known(id);
    if (session == nullptr) return;
    bool const unkept = session->open && now >= session->ends();
    if (session->life->is_expired() || unkept) return end(id);
    if (!session->open || now < session->next_sign) return;
    show(*session, {});
    if (auto const* const own = known(id)) own->life->tend(now);
}

void living_sessions::take(net::poller::event const& event) {
    for (auto const& [id, session] : all_)
        if (session->life->tag() == event.about) return session->life->process(event.kinds);
}

base::instant living_sessions::due() const noexcept {
    auto out = base::never;
    for (auto const& [id, session] : all_) {
        out = std::min(out, session->life->due());
        if (session->open) out = std::min({out, session->next_sign, session->ends()});
    }
    return out;
}

void living_sessions::abandon() noexcept {
    for (auto const& [id, session] : all_)
        session->life->abandon();
}

void living_sessions::leave() noexcept {
    for (auto& [id, session] : all_)
        static_cast<void>(session.release());
}

// --- signs of life -----------------------------------------------------------------------------

void living_sessions::keep(compare::ticket which, std::vector<compare::session_id> const& ids) {
    struct keeping {
        std::vector<compare::kept> found;
        std::size_t left;
    };
    auto const state = std::make_shared<keeping>(keeping{{}, ids.size() + 1});
    auto const advance = [this, which, state] {
        if (--state->left == 0) with_.tell(which, state->found);
    };
    for (auto const id : ids)
        state->found.push_back({.id = id, .found = compare::kept::state::dead});
    for (std::size_t each = 0; each < ids.size(); ++each) {
        auto* const session = known(ids[each]);
        if (session == nullptr || !session->open) {
            advance();
            continue;
        }
        show(*session, [state, each, advance](compare::kept::state found, base::instant began) {
            state->found[each].found = found;
            state->found[each].began = compare::store_time_of(began);
            advance();
        });
        if (auto const* const own = known(ids[each])) own->life->tend(base::boot_clock::now());
    }
    advance();
}

// A write, since only that is confirmed by a majority; a follower that is cut off answers everything else.
void living_sessions::show(living_session& session, sign_reader then) {
    session.next_sign = base::boot_clock::now() + session.signs.interval();
    session.life->send(
        {.what = request::kind::together,
         .operations = {{.what = operation::kind::check, .path = with_.at.session(session.id)},
                        {.what = operation::kind::set, .path = with_.at.mail(session.id)}},
         .then = [this, id = session.id, then = std::move(then)](answer const& from) {
             using state = compare::kept::state;
             auto* const own = known(id);
             if (own == nullptr) return then ? then(state::dead, {}) : void();
             if (from.code == ZOK) {
                 auto const before = own->began;
                 confirm(*own, from);
                 // Only who asks for it keeps a session alive.
                 if (!then) return static_cast<void>(own->began = before);
                 return then(state::alive, own->began);
             }
             bool const dead = from.code == ZNONODE || from.code == ZSESSIONEXPIRED;
             if (dead) end(id);
             if (then) then(dead ? state::dead : state::unknown, {});
         }});
}

void living_sessions::confirm(living_session& session, answer const& from) {
    with_.clock.note(from.stat);
    session.began =
        std::max(session.began, session.signs.confirm(from.when, base::boot_clock::now()));
    session.next_sign = from.when + session.signs.interval();
}

void living_sessions::raise(compare::ticket which, compare::session_id id) {
    auto const* const session = find(id);
    if (session == nullptr) return with_.tell(which, compare::fenced{});
    common_.together(
        {{.what = operation::kind::set, .path = with_.at.session(id), .data = session->body}},
        [this, which, id](answer const& from) {
            auto* const own = known(id);
            if (own == nullptr) return with_.tell(which, compare::fenced{});
            if (from.code == ZNONODE) {
                end(id);
                return with_.tell(which, compare::fenced{});
            }
            if (from.code != ZOK) return with_.tell(which, with_.judged(from));
            with_.clock.note(from.stat);
            own->current = stamp_of(from.stat.mzxid);
            own->version = from.stat.version;
            with_.tell(which, compare::raised{own->current});
        });
}

void living_sessions::end(compare::session_id id) {
    auto const found = all_.find(id);
    if (found == all_.end()) return;
    auto const session = std::move(found->second);
    all_.erase(found);
    if (ended_.size() == most_remembered) ended_.erase(ended_.begin());
    ended_.insert(id);
    mail_.close(id);
    for (auto const each : session->opening)
        with_.tell(each, compare::rejected{
                             {errc::store_unavailable, "the session ended before it was opened"}});
    with_.over.push_back(std::move(session->life));
}

}  // namespace holdfast::stores::zookeeper
