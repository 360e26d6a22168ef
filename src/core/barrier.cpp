#include "core/barrier.hpp"

#include <algorithm>
#include <utility>

#include "core/barrier_arrival.hpp"
#include "core/cells.hpp"
#include "core/task_context.hpp"

namespace holdfast::core {

namespace {

using std::chrono::nanoseconds;

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
            if (party.is_gone()) break;
            bool const concerned = surely || party.is_counted_on();
            if (party.state.generation != party.generation || party.state.broken || !concerned)
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
                arrival.join();
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
            auto swap = arrival.arrive(operation, on.next_operation());
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

}  // namespace holdfast::core
