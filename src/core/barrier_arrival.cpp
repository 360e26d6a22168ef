#include "core/barrier_arrival.hpp"

#include <algorithm>
#include <string>

#include "core/cells.hpp"

namespace holdfast::core {

namespace {

bool among(std::vector<seam::claim_id> const& all, seam::claim_id id) {
    return std::ranges::find(all, id) != all.end();
}

// The words of the code follow: "…: the barrier is broken".
[[noreturn]] void broken(barrier_terms const& terms, std::string const& before,
                         std::string const& behind) {
    base::raise(errc::broken_barrier, before + "'" + terms.name() + "'" + behind);
}

char const* const usable_again = " (reset() makes it usable again)";
[[noreturn]] void party_left(barrier_terms const& terms) {
    broken(terms, "a party left ", usable_again);
}

}  // namespace

barrier_state state_of(barrier_terms const& terms, seam::cell const& cell) {
    if (cell.version == 0) {
        barrier_state fresh;
        fresh.parties = terms.parties;
        return fresh;
    }
    auto found = barrier_state::parse(cell.value, terms.name());
    if (found.parties != terms.parties)
        base::raise(errc::limit_mismatch, "the barrier '" + terms.name() + "' has " +
                                              std::to_string(found.parties) + " parties, not " +
                                              std::to_string(terms.parties));
    return found;
}

seam::swap change(barrier_terms const& terms, std::uint64_t version, barrier_state const& to,
                  seam::claim_id operation) {
    seam::swap out{terms.key(), version, to.text()};
    out.ttl = barrier_kept;
    out.operation = operation;
    return out;
}

void party_died(barrier_terms const& terms) { broken(terms, "a party died at ", usable_again); }

void arrival::look(seam::reply_body const& answer) {
    cell = cell_in(answer, terms->name());
    state = state_of(*terms, cell);
}

bool arrival::is_unchanged(seam::reply_body const& answer) {
    auto const version = cell.version;
    look(answer);
    return cell.version == version;
}

void arrival::join() noexcept {
    generation = state.generation;
    life = state.life;
}

bool arrival::is_counted_on() const noexcept { return among(state.arrived, me.id); }

seam::swap arrival::touch(seam::claim_id operation) const {
    auto out = change(*terms, cell.version, state, operation);
    out.quiet = true;
    return out;
}

seam::swap arrival::arrive(seam::claim_id operation, seam::claim_id fresh) {
    if (state.broken) party_left(*terms);
    if (cell.version == 0) state.life = fresh;
    join();
    state.arrived.push_back(me.id);
    bool const last = state.arrived.size() >= terms->parties;
    if (last) state.turn(true);
    asked = true;
    auto out = change(*terms, cell.version, state, operation);
    out.guard = me;
    out.quiet = !last;  // the others wait for the last one
    return out;
}

seam::swap arrival::leave(seam::claim_id operation) {
    state.broken = true;
    return change(*terms, cell.version, state, operation);
}

void arrival::learn_arrival(seam::reply_body const& answer, bool sent_again) {
    counted = std::holds_alternative<seam::swapped>(answer);
    over = counted && state.generation != generation;
    if (counted) return;
    auto const* const no = std::get_if<seam::conflict>(&answer);
    bool const absent = no != nullptr && no->guard_failed;
    auto const asked_in = generation;
    bool const was_new = cell.version == 0;  // then others may have been the first
    look(answer);
    bool const goes_on = (was_new || !is_gone()) && state.generation <= asked_in + 1;
    join();
    counted = among(state.arrived, me.id);
    over = among(state.before, me.id);
    if (over) --generation;
    counted = counted || over;
    if (!counted && sent_again && !goes_on)
        broken(*terms, "whether the party was counted at ",
               " is unknown: the answer was lost, and others have gone on since");
    if (!counted && absent) broken(*terms, "the party's own presence at ", " has ended");
}

bool arrival::learn(seam::reply_body const& answer) {
    cell = cell_in(answer, terms->name());
    if (cell.version != 0) state = barrier_state::parse(cell.value, terms->name());
    // Before its parties are compared: those of another life are none of its business.
    if (is_gone()) broken(*terms, "", " was deleted, or its store has forgotten it");
    if (state.generation == generation) {
        if (state.broken) party_left(*terms);
        return false;
    }
    auto const tripped = state.has_tripped(generation);
    if (!tripped) broken(*terms, "a generation of ", " ended too long ago to tell how");
    if (!*tripped) broken(*terms, "", " was reset");
    return over = true;
}

bool arrival::somebody_died(seam::reply_body const& answer) const {
    std::vector<std::string> present;
    if (auto const* const page = std::get_if<seam::page>(&answer))
        for (auto const& name : page->names)
            if (name.kind == lock_kind::barrier)
                for (auto const& holder : name.holders)
                    present.push_back(holder.id);
    std::ranges::sort(present);
    return std::ranges::any_of(state.arrived, [&](seam::claim_id id) {
        return !std::ranges::binary_search(present, to_string(id));
    });
}

}  // namespace holdfast::core
