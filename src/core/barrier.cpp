#include "core/barrier.hpp"

#include <algorithm>
#include <utility>

#include "core/cells.hpp"
#include "core/task_context.hpp"

namespace holdfast::core {

namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::seconds slow_poll{5};

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
[[noreturn]] void party_died(barrier_terms const& terms) {
    broken(terms, "a party died at ", usable_again);
}

/// One party at a barrier, from its arrival to the end of its generation.
struct arrival {
    barrier_terms_ptr terms;
    std::shared_ptr<hold_state> presence;
    seam::claim me;
    seam::cell cell{};  ///< as it was last seen
    barrier_state state{};
    std::uint64_t generation{0};  ///< in which it arrives
    bool asked{false};            ///< it may be counted
    bool counted{false};
    bool over{false};  ///< its generation has tripped
    bool left{false};  ///< and this one never will, by its own doing

    void look(seam::reply_body const& answer) {
        cell = cell_in(answer, terms->name());
        state = state_of(*terms, cell);
    }

    /// Looks again, and says whether nobody has come or gone since.
    [[nodiscard]] bool is_unchanged(seam::reply_body const& answer) {
        auto const version = cell.version;
        look(answer);
        return cell.version == version;
    }

    /// The swap that changes nothing: a barrier lives as long as somebody waits.
    [[nodiscard]] seam::swap touch(seam::claim_id operation) const {
        auto out = change(*terms, cell.version, state, operation);
        out.quiet = true;
        return out;
    }

    [[nodiscard]] bool is_last() const noexcept {
        return state.arrived.size() + 1 >= terms->parties;
    }

    /// The swap by which it arrives, as the cell is now: the last party trips the generation.
    [[nodiscard]] seam::swap arrive(seam::claim_id operation) {
        if (state.broken) party_left(*terms);
        generation = state.generation;
        state.arrived.push_back(me.id);
        bool const last = state.arrived.size() >= terms->parties;
        if (last) state.turn(true);
        asked = true;
        auto out = change(*terms, cell.version, state, operation);
        out.guard = me;
        out.quiet = !last;  // the others wait for the last one
        return out;
    }

    /// What became of it. A swap whose answer was lost may have counted the party before others
    /// changed the cell: its claim is found in the cell then.
    void learn_arrival(seam::reply_body const& answer, bool sent_again) {
        counted = std::holds_alternative<seam::swapped>(answer);
        over = counted && state.generation != generation;
        if (counted) return;
        auto const* const no = std::get_if<seam::conflict>(&answer);
        bool const absent = no != nullptr && no->guard_failed;
        auto const asked_in = generation;
        look(answer);
        generation = state.generation;
        counted = among(state.arrived, me.id);
        over = among(state.before, me.id);
        if (over) --generation;
        counted = counted || over;
        if (!counted && sent_again && state.generation > asked_in + 1)
            broken(*terms, "whether the party was counted at ",
                   " is unknown: the answer was lost, and others have gone on since");
        if (!counted && absent) broken(*terms, "the party's own presence at ", " has ended");
    }

    /// Whether its generation is over, by what the store says now.
    bool learn(seam::reply_body const& answer) {
        look(answer);
        if (cell.version == 0 || state.generation < generation)
            broken(*terms, "the store has forgotten ", "");
        if (state.generation == generation) {
            if (state.broken) party_left(*terms);
            return false;
        }
        auto const tripped = state.has_tripped(generation);
        if (!tripped) broken(*terms, "a generation of ", " ended too long ago to tell how");
        if (!*tripped) broken(*terms, "", " was reset");
        return over = true;
    }

    /// The swap by which it leaves and breaks the generation for the others.
    [[nodiscard]] seam::swap leave(seam::claim_id operation) {
        state.broken = true;
        return change(*terms, cell.version, state, operation);
    }

    /// Whether somebody who has arrived is not there any more, by the store's word.
    [[nodiscard]] bool somebody_died(seam::reply_body const& answer) const {
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
};

seam::inspect who_is_there(barrier_terms const& terms) {
    seam::inspect out{terms.name()};
    out.exact = true;
    return out;
}

// Breaks a generation that has not ended, when `who` was counted in it or has seen a party die.
// Nobody waits for this.
task break_generation(task_context& on, arrival party, bool surely) {
    auto const operation = on.next_operation();
    auto const key = party.terms->key();
    try {
        auto answer = co_await on.read_anyway(key);
        while (!std::holds_alternative<seam::swapped>(answer)) {
            party.look(answer);
            bool const concerned = surely || among(party.state.arrived, party.me.id);
            if (party.cell.version == 0 || party.state.generation != party.generation ||
                party.state.broken || !concerned)
                break;
            auto swap = party.leave(operation);
            answer = co_await on.ask_anyway(std::move(swap));
        }
    } catch (std::system_error const&) {
        // The others find out that it is not there any more.
    }
    on.release(party.presence);
}

// Whoever may be counted on and does not come back breaks the generation.
void go(task_context& on, arrival const& party, bool saw_death) {
    if (party.over || party.left || !(party.asked || saw_death)) return on.release(party.presence);
    on.leave_to([party, saw_death](task_context& where) {
        return break_generation(where, party, saw_death);
    });
}

arrival present(barrier_terms_ptr terms, acquire_call& call) {
    if (call.outcome == verdict::failed) call.error.raise();
    if (call.held == nullptr || call.held->held_by == nullptr)
        base::raise(errc::store_unavailable, "the store did not let the party arrive");
    auto const me = call.held->held_by->subject;
    return {std::move(terms), std::move(call.held), me};
}

}  // namespace

// --- arriving ----------------------------------------------------------------------------------

task arrive_at_barrier(task_context& on, barrier_terms_ptr terms,
                       std::optional<std::uint64_t>& generation, bool wait) {
    generation.reset();
    std::vector<std::shared_ptr<wait_queue>> queues{std::make_shared<wait_queue>(terms->presence)};
    auto calls = co_await on.acquire(std::move(queues), true);
    auto arrival = present(terms, *calls.front());
    auto const key = terms->key();
    auto const poll =
        std::min<nanoseconds>(slow_poll, nanoseconds{terms->presence->spec->lease} / 3);
    bool saw_death = false;
    std::exception_ptr failure;
    try {
        auto const operation = on.next_operation();
        co_await on.watch(key);
        auto seen = on.changes(key);
        auto answer = co_await on.read(key);
        arrival.look(answer);
        while (!arrival.counted) {
            if (arrival.is_last() && terms->parties > 1) {
                arrival.generation = arrival.state.generation;
                auto who = who_is_there(*terms);
                answer = co_await on.ask(std::move(who));
                saw_death = !arrival.state.broken && arrival.somebody_died(answer);
            }
            if (saw_death) {
                // Or others have tripped it meanwhile, and left: then this party is not the last one.
                answer = co_await on.read(key);
                if (arrival.is_unchanged(answer)) party_died(*terms);
                saw_death = false;
                continue;
            }
            auto swap = arrival.arrive(operation);
            answer = co_await on.ask(std::move(swap));
            arrival.learn_arrival(answer, on.sent_again());
        }
        auto touched = on.now();
        bool in_time = wait;
        while (!arrival.over && in_time) {
            in_time = co_await on.change(key, seen, poll);
            bool const told = on.changes(key) != seen;
            seen = on.changes(key);
            co_await on.watch(key);
            answer = co_await on.read_anyway(key);
            if (arrival.learn(answer) || told) continue;
            auto who = who_is_there(*terms);
            answer = co_await on.ask_anyway(std::move(who));
            saw_death = arrival.somebody_died(answer);
            // It may have tripped before they left.
            answer = co_await on.read_anyway(key);
            if (arrival.learn(answer)) continue;
            if (saw_death) party_died(*terms);
            if (on.now() - touched < barrier_kept / 4) continue;
            touched = on.now();
            auto same = arrival.touch(on.next_operation());
            co_await on.ask_anyway(std::move(same));
        }
        auto const leaving = on.next_operation();
        while (!arrival.over && !arrival.left) {
            auto swap = arrival.leave(leaving);
            answer = co_await on.ask_anyway(std::move(swap));
            arrival.left = std::holds_alternative<seam::swapped>(answer);
            if (!arrival.left) arrival.learn(answer);
        }
    } catch (...) {
        failure = std::current_exception();
    }
    if (arrival.over) generation = arrival.generation;
    go(on, arrival, saw_death);
    if (failure != nullptr && !arrival.over) std::rethrow_exception(failure);
}

task reset_barrier(task_context& on, barrier_terms_ptr terms) {
    auto const operation = on.next_operation();
    auto const key = terms->key();
    auto answer = co_await on.read(key);
    while (!std::holds_alternative<seam::swapped>(answer)) {
        auto const cell = cell_in(answer, terms->name());
        if (cell.version == 0) co_return;
        auto state = state_of(*terms, cell);
        state.turn(false);
        auto swap = change(*terms, cell.version, state, operation);
        answer = co_await on.ask(std::move(swap));
    }
}

}  // namespace holdfast::core
