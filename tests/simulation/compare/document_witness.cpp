#include "simulation/compare/document_witness.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace stores::compare;

namespace {

// Whoever let go under a minimum hold.
bool is_among(auto const& line, seam::claim_id id) {
    return std::ranges::any_of(line, [&](auto const& each) { return each.first == id; });
}

}  // namespace

void document_witness::opened(session_id id, seam::store_time ends,
                              std::chrono::milliseconds lease) {
    sessions_.insert_or_assign(id, session_state{ends, lease});
}

seam::store_time document_witness::kept_alive(session_id id, seam::store_time now) {
    auto& one = sessions_[id];
    // A statement that began earlier may be carried out later.
    one.ends = std::max(one.ends, now + one.lease);
    for (auto const& [key, name] : names_) {
        for (auto const& [claim, state] : name.holders)
            if (state.session == id && !state.kept) world_.seen.extended(claim, one.ends);
        for (auto const& [claim, state] : name.line)
            if (state.session == id) world_.seen.extended(claim, one.ends);
    }
    return one.ends;
}

// What it held or waited for is nobody's, whether or not somebody has cleared it away.
void document_witness::session_ended(session_id id, store_end how) {
    sessions_.erase(id);
    for (auto const& [key, name] : names_) {
        for (auto const& [claim, state] : name.line)
            if (state.session == id) world_.seen.left(claim);
        for (auto const& [claim, state] : name.holders)
            if (state.session == id && !state.kept) world_.seen.ended(claim, how);
    }
    auto const names = names_;
    for (auto const& [key, name] : names)
        look(key, {});
}

seam::store_time document_witness::end_of(due end) const {
    if (end.session == session_id{}) return end.at;
    auto const known = sessions_.find(end.session);
    return known == sessions_.end() ? world_.store.now() : known->second.ends;
}

document_witness::claim_state document_witness::state_of(claim_record const& claim) const {
    auto const known = specs_.find(claim.subject.id);
    auto spec = known == specs_.end() ? claim.subject.spec : known->second;
    if (spec->mode != claim.mode || spec->permits != claim.permits) {
        auto changed = *spec;
        changed.mode = claim.mode;
        changed.permits = claim.permits;
        spec = std::make_shared<seam::claim_spec const>(std::move(changed));
    }
    return {std::move(spec), claim.session, claim.secret,
            claim.number,    claim.kept,    claim.kept ? end_of(claim.end) : seam::store_time{}};
}

document_witness::name_state document_witness::read(name_key const& key) const {
    auto const now = world_.store.now();
    auto const seen = server_.look({.key = key, .line = name_query::whole_line}, now);
    stores::compare::moment const when{now, now};
    name_state out;
    if (seen.written != stamp{}) {
        auto const head = read_head(key, seen.body, seen.written, when);
        out.kind = head.record.kind;
        out.limit = head.record.current;
        out.limit_kept = head.limit_kept != due{};
        for (auto const& holder : head.holders)
            out.holders.emplace(holder.subject.id, state_of(holder));
        out.cells = {head.cells.begin(), head.cells.end()};
    }
    for (auto const& item : seen.line)
        out.line.emplace_back(item.id, state_of(read_waiter(key, item, when)));
    return out;
}

void document_witness::look(name_key const& key, seam::client_id by) {
    name_state is;
    try {
        is = read(key);
    } catch (std::system_error const& unreadable) {
        return world_.fail("witness",
                           std::string{"what is stored cannot be read: "} + unreadable.what());
    }
    auto const was = std::exchange(names_[key], is);
    for (auto const& [id, state] : is.holders)
        sessions_of_[id].insert(state.session);
    for (auto const& [id, state] : is.line)
        sessions_of_[id].insert(state.session);
    auto const limit = [&](name_state const& of) {
        return of.limit == 0 ? std::optional<std::uint32_t>{} : of.limit;
    };
    // Whoever could be let in by the old one came before it was lowered.
    if (was.limit != 0 && is.limit != 0)
        world_.seen.limited(key.name, std::max(was.limit, is.limit));
    // One step may carry out several requests of a client: who guarded a swap was there.
    tell_cells(key, was, is);
    tell_grants(was, is, true);  // who joins its owner's hold came before that ended
    tell_ends(was, is, by);
    tell_leavers(was, is);
    if (was.limit == 0 || is.limit == 0) world_.seen.limited(key.name, limit(is));
    tell_grants(was, is, false);
    tell_joins(key.name, was, is);  // a step may let in one and append the next
    world_.seen.limited(key.name, limit(is));
}

// It is in the way from when it was asked for on, however late that is carried out. Asked for once more, it is
// computed anew.
void document_witness::settling(seam::settle const& what) {
    if (what.keep_for <= std::chrono::milliseconds::zero()) return;
    auto const until = world_.store.now() + what.keep_for;
    auto& least = kept_at_least_.emplace(what.subject.id, until).first->second;
    least = std::min(least, until);
}

void document_witness::check_kept(seam::claim_id id, seam::store_time until) {
    auto const asked = kept_at_least_.find(id);
    if (asked == kept_at_least_.end() || !world_.plan.within_fault_model()) return;
    if (until + std::chrono::milliseconds{1} < asked->second)
        world_.fail("witness",
                    world_.short_name(id) + " was released under a minimum hold, which ends " +
                        std::to_string((asked->second - until).count()) + " us too early");
}

void document_witness::tell_ends(name_state const& was, name_state const& is, seam::client_id by) {
    for (auto const& [id, before] : was.holders) {
        auto const found = is.holders.find(id);
        // Nobody is told of what was only kept.
        if (before.kept && found == is.holders.end() && by == seam::client_id{1})
            world_.seen.ended(id, store_end::evicted);
        if (before.kept || !alive(before.session)) continue;  // told before
        if (found != is.holders.end() && !found->second.kept) {
            if (found->second.spec->mode != before.spec->mode ||
                found->second.spec->permits != before.spec->permits)
                world_.seen.converted(id, found->second.spec);
            // It went over to another session, for a longer lease.
            if (found->second.session != before.session && alive(found->second.session))
                world_.seen.extended(id, sessions_.at(found->second.session).ends);
            continue;
        }
        if (found != is.holders.end()) {
            check_kept(id, found->second.kept_until);
            world_.seen.kept(id, found->second.kept_until);
        } else if (by == id.client) {
            world_.seen.ended(id, store_end::settled);
        } else if (by == seam::client_id{1}) {
            world_.seen.ended(id, store_end::evicted);
        } else {
            world_.fail("witness", world_.short_name(id) + " was ended by another client");
        }
    }
}

void document_witness::tell_leavers(name_state const& was, name_state const& is) {
    for (auto const& [id, before] : was.line)
        if (!is_among(is.line, id) && !is.holders.contains(id)) world_.seen.left(id);
}

void document_witness::tell_joins(std::string const& name, name_state const& was,
                                  name_state const& is) {
    for (auto const& [id, after] : is.line) {
        // One whose session died stood there dead, and joins anew.
        bool const stood = std::ranges::any_of(was.line, [&](auto const& each) {
            return each.first == id && each.second.session == after.session;
        });
        if (stood || !alive(after.session)) continue;
        world_.seen.queued(name, id, after.spec, sessions_.at(after.session).ends);
        seam::submit asked;
        asked.subject = {after.spec, id};
        world_.tell([&](checker& it) {
            it.carried_out(asked, {world_.store.now(), seam::queued{}, {}});
        });
    }
}

void document_witness::tell_grants(name_state const& was, name_state const& is, bool joiners) {
    std::vector<std::pair<seam::claim_id, claim_state const*>> fresh;
    for (auto const& [id, after] : is.holders) {
        auto const before = was.holders.find(id);
        bool const same = before != was.holders.end() && before->second.number == after.number;
        bool const joins = std::ranges::any_of(was.holders, [&](auto const& each) {
            return each.second.number == after.number && alive(each.second.session);
        });
        if (!same && !after.kept && joins == joiners) fresh.emplace_back(id, &after);
    }
    // Those who join one owner have one number, and come in as they stood in the line.
    std::ranges::sort(fresh, {}, [&](auto const& each) {
        auto const stood =
            std::ranges::find(was.line, each.first, [](auto const& one) { return one.first; });
        return std::pair{each.second->number, stood - was.line.begin()};
    });
    for (auto const& [id, after] : fresh) {
        if (!alive(after->session)) {
            // Let in after its death: nobody holds it, and the next one who looks clears it away.
            world_.seen.left(id);
            continue;
        }
        auto const& session = sessions_.at(after->session);
        world_.seen.granted(id, after->spec, after->number, session.ends, is_among(was.line, id));
        seam::submit asked;
        asked.subject = {after->spec, id};
        world_.tell([&](checker& it) {
            it.carried_out(asked, {world_.store.now(), seam::granted{}, {}});
        });
    }
}

void document_witness::tell_cells(name_key const& key, name_state const& was,
                                  name_state const& is) {
    seam::reply answer{.now = world_.store.now(), .body = {}, .clock = {}};
    for (auto const& [part, cell] : is.cells) {
        auto const before = was.cells.find(part);
        if (before != was.cells.end() && before->second.version == cell.version) continue;
        seam::swap swap;
        swap.key = {is.kind, key.name, part};
        swap.value = cell.value;
        swap.operation = cell.operation;
        answer.body = seam::swapped{cell.version};
        world_.tell([&](checker& it) { it.carried_out(swap, answer); });
    }
    if (!is.limit_kept || was.limit_kept) return;
    seam::adjust adjust;
    adjust.subject.spec =
        std::make_shared<seam::claim_spec const>(seam::claim_spec{.name = key.name});
    adjust.current = is.limit;
    answer.body = seam::adjusted{};
    world_.tell([&](checker& it) { it.carried_out(adjust, answer); });
}

std::vector<document_witness::entry> document_witness::entries() const {
    std::vector<entry> out;
    for (auto const& [key, name] : names_) {
        for (auto const& [id, state] : name.holders)
            if (!state.kept && alive(state.session)) out.push_back({id, state.session});
        for (auto const& [id, state] : name.line)
            if (alive(state.session)) out.push_back({id, state.session});
    }
    return out;
}

bool document_witness::sessions_live(seam::claim_id id) const {
    auto const known = sessions_of_.find(id);
    return known != sessions_of_.end() &&
           std::ranges::all_of(known->second, [&](session_id each) { return alive(each); });
}

bool document_witness::anybody_at(name_key const& key) const {
    auto const is = read(key);
    return !is.holders.empty() || !is.line.empty();
}

std::vector<document_witness::waiter> document_witness::waiting() const {
    std::vector<waiter> out;
    for (auto const& [key, name] : names_)
        for (auto const& [id, state] : name.line)
            if (alive(state.session)) out.push_back({id, state.session, state.secret});
    return out;
}

}  // namespace holdfast::simulation
