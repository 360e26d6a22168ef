#include "stores/compare/own_sessions.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace holdfast::stores::compare {

namespace {

using std::chrono::milliseconds;

// For what lives with no session of its own, such as a cell.
constexpr milliseconds common_lease{30'000};

base::error const* error_in(outcome const& what) {
    if (auto const* const no = std::get_if<rejected>(&what)) return &no->error;
    if (auto const* const doubt = std::get_if<unknown>(&what)) return &doubt->error;
    return nullptr;
}

base::error nonsense() {
    return {errc::store_unavailable, "the store's driver gave an answer of another kind"};
}

}  // namespace

void own_sessions::with(milliseconds lease, user then) {
    slots_[lease].waiting.push_back(std::move(then));
    serve(lease);
}

void own_sessions::with_one(session_id id, user then) {
    for (auto const& [lease, slot] : slots_)
        if (slot.open && slot.session.id == id) return with(lease, std::move(then));
    for (auto const& [lease, slot] : slots_)
        if (slot.open) return with(lease, std::move(then));
    with(common_lease, std::move(then));
}

milliseconds own_sessions::age(own_session const& session) const {
    return std::chrono::duration_cast<milliseconds>(time_.estimate() - session.began);
}

// Does what the session lacks, one thing at a time, and then serves those who wait for it.
void own_sessions::serve(milliseconds lease) {
    auto& slot = slots_[lease];
    if (slot.busy || slot.waiting.empty()) return;
    if (!slot.open) return open(lease, slot);
    if (slot.suspect) return raise(lease, slot);
    auto const old = age(slot.session);
    if (old > slot.session.lease * 2 / 3) return refresh(lease, slot);
    if (old > slot.session.lease / 3 && !std::exchange(slot.refreshing, true))
        keep({slot.session.id}, [this, lease](auto const*, auto const&) {
            if (auto const known = slots_.find(lease); known != slots_.end())
                known->second.refreshing = false;
        });
    finish(lease, {});
}

void own_sessions::finish(milliseconds lease, base::error const& why) {
    auto& slot = slots_[lease];
    auto const session = slot.session;
    for (auto& then : std::exchange(slot.waiting, {}))
        then(why ? nullptr : &session, why);
}

// Leases of many lengths would leave a session each. One with which nothing has lived for the time of its lease is
// over anyway.
void own_sessions::retire_idle() {
    constexpr std::size_t most_idle = 8;
    if (slots_.size() <= most_idle) return;
    std::erase_if(slots_, [&](auto const& each) {
        auto const& slot = each.second;
        bool const over = slot.open && !slot.busy && !slot.refreshing && slot.waiting.empty() &&
                          age(slot.session) > slot.session.lease && !in_use_(slot.session.id);
        if (over) driver_.close(slot.session.id);
        return over;
    });
}

void own_sessions::open(milliseconds lease, lease_slot& on) {
    retire_idle();
    on.busy = true;
    if (on.session.id == session_id{}) on.session.id = new_id();
    auto const which = calls_.add([this, lease](outcome&& what) {
        auto& slot = slots_[lease];
        slot.busy = false;
        auto const* const made = std::get_if<opened>(&what);
        if (made == nullptr) {
            // One that was opened without our hearing of it, and has died since, is not opened again.
            if (std::holds_alternative<rejected>(what)) slot.session.id = {};
            auto const* const why = error_in(what);
            return finish(lease, why != nullptr ? *why : nonsense());
        }
        slot.open = true;
        slot.suspect = false;
        slot.session.current = made->current;
        slot.session.lease = made->lease;
        slot.session.began = made->began;
        serve(lease);
    });
    driver_.open(which, on.session.id, lease, body_);
}

void own_sessions::raise(milliseconds lease, lease_slot& on) {
    on.busy = true;
    auto const id = on.session.id;
    auto const which = calls_.add([this, lease, id](outcome&& what) {
        auto& slot = slots_[lease];
        if (slot.session.id != id) return;
        slot.busy = false;
        if (auto const* const made = std::get_if<raised>(&what)) {
            slot.session.current = made->current;
            slot.suspect = false;
            return serve(lease);
        }
        if (std::holds_alternative<fenced>(what)) return declare_dead(id);
        auto const* const why = error_in(what);
        finish(lease, why != nullptr ? *why : nonsense());
    });
    driver_.raise(which, id);
}

void own_sessions::refresh(milliseconds lease, lease_slot& on) {
    on.busy = true;
    auto const id = on.session.id;
    keep({id}, [this, lease, id](std::vector<kept> const* found, base::error const& why) {
        auto& slot = slots_[lease];
        if (slot.session.id != id) return;  // dead, and served anew
        slot.busy = false;
        if (found == nullptr) return finish(lease, why);
        if (found->front().found == kept::state::unknown)
            return finish(lease, {errc::store_unavailable,
                                  "the store did not say whether the client's session lives"});
        serve(lease);
    });
}

void own_sessions::keep(std::vector<session_id> ids, keeper then) {
    auto const which = calls_.add([this, then = std::move(then)](outcome&& what) {
        auto const* const found = std::get_if<std::vector<kept>>(&what);
        if (found == nullptr) {
            auto const* const why = error_in(what);
            return then(nullptr, why != nullptr ? *why : nonsense());
        }
        note(*found);
        then(found, {});
    });
    driver_.keep(which, std::move(ids));
}

// Claims that became due at different moments share a sign of life, and come due together from then on: it counts for
// half of the time after which a hold is renewed. A store with a clock of its own must be asked for its time anyway.
void own_sessions::confirm(std::vector<session_id> ids, milliseconds lease, keeper const& then) {
    std::vector<kept> fresh;
    if (time_.note_own_time())
        std::erase_if(ids, [&](session_id id) {
            auto const* const session = find(id);
            bool const lately =
                session != nullptr && age(*session) < std::min(lease, session->lease) / 6;
            if (lately) fresh.push_back({id, kept::state::alive, session->began});
            return lately;
        });
    if (ids.empty()) return then(&fresh, {});
    keep(std::move(ids), [fresh, then](std::vector<kept> const* found, base::error const& why) {
        if (found == nullptr) return then(nullptr, why);
        auto all = *found;
        all.insert(all.end(), fresh.begin(), fresh.end());
        then(&all, why);
    });
}

void own_sessions::note(std::vector<kept> const& found) {
    for (auto const& each : found) {
        if (each.found == kept::state::dead) declare_dead(each.id);
        if (each.found != kept::state::alive) continue;
        for (auto& [lease, slot] : slots_)
            if (slot.session.id == each.id)
                slot.session.began = std::max(slot.session.began, each.began);
    }
}

void own_sessions::suspect(session_id id, generation of) {
    for (auto& [lease, slot] : slots_)
        if (slot.session.id == id && slot.session.current == of) slot.suspect = true;
}

bool own_sessions::is_suspect(session_id id) const {
    return std::ranges::any_of(slots_, [&](auto const& each) {
        return each.second.session.id == id && each.second.suspect;
    });
}

void own_sessions::declare_dead(session_id id) {
    auto const found =
        std::ranges::find(slots_, id, [](auto const& each) { return each.second.session.id; });
    if (found == slots_.end()) return;
    auto const lease = found->first;
    auto waiting = std::move(found->second.waiting);
    slots_.erase(found);
    constexpr std::size_t most_remembered = 1000;
    if (dead_.size() == most_remembered) dead_.erase(dead_.begin());
    dead_.insert(id);
    driver_.close(id);  // what it kept there for the session
    on_death_(id);
    for (auto& then : waiting)
        with(lease, std::move(then));
}

own_session const* own_sessions::find(session_id id) const {
    auto const found =
        std::ranges::find(slots_, id, [](auto const& each) { return each.second.session.id; });
    return found == slots_.end() || !found->second.open ? nullptr : &found->second.session;
}

session_id own_sessions::serves(milliseconds lease) const {
    auto const found = slots_.find(lease);
    bool const good = found != slots_.end() && found->second.open && !found->second.suspect;
    return good ? found->second.session.id : session_id{};
}

bool own_sessions::is_for(session_id id, milliseconds lease) const {
    auto const found = slots_.find(lease);
    return found != slots_.end() && found->second.session.id == id;
}

session_id own_sessions::known_end(milliseconds span) const {
    auto const known = ends_.find(span);
    bool const good = known != ends_.end() && time_.estimate() - known->second.opened < span / 4;
    return good ? known->second.id : session_id{};
}

void own_sessions::with_end(milliseconds span, bool shared, user then) {
    if (auto const known = shared ? known_end(span) : session_id{}; known != session_id{}) {
        own_session const end{.id = known};
        return then(&end, {});
    }
    auto const id = new_id();
    auto const which = calls_.add([this, id, span, shared, then](outcome&& what) {
        auto const* const made = std::get_if<opened>(&what);
        if (made == nullptr) {
            auto const* const why = error_in(what);
            return then(nullptr, why != nullptr ? *why : nonsense());
        }
        if (shared) ends_.insert_or_assign(span, shared_end{id, made->began});
        own_session const end{.id = id, .lease = made->lease, .began = made->began};
        then(&end, {});
    });
    driver_.open(which, id, shared ? span * 5 / 4 : span, {});
}

void own_sessions::close(std::function<bool(session_id)> const& idle) noexcept {
    // Also one that may have been opened without our hearing of it.
    for (auto const& [lease, slot] : slots_)
        if (slot.session.id != session_id{} && idle(slot.session.id))
            driver_.close(slot.session.id);
    slots_.clear();
}

}  // namespace holdfast::stores::compare
