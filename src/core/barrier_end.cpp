// How a barrier begins anew, and how it ends.
#include <optional>
#include <utility>

#include "core/barrier_arrival.hpp"
#include "core/cells.hpp"
#include "core/task_context.hpp"

namespace holdfast::core {

task reset_barrier(task_context& on, barrier_terms_ptr terms) {
    auto const operation = on.next_operation();
    auto const key = terms->key();
    auto answer = co_await on.read(key);
    std::optional<barrier_state> asked;
    while (!std::holds_alternative<seam::swapped>(answer)) {
        auto const cell = cell_in(answer, terms->name());
        if (cell.version == 0) co_return;
        auto state = state_of(*terms, cell);
        bool const another =
            asked && (state.life != asked->life || state.generation != asked->generation);
        if (another && on.sent_again())
            co_return;  // the one that it was for has ended, by it or others
        asked = state;
        state.turn(false);
        auto swap = change(*terms, cell.version, state, operation);
        answer = co_await on.ask(std::move(swap));
    }
}

task delete_barrier(task_context& on, barrier_terms_ptr terms) {
    auto const operation = on.next_operation();
    auto const key = terms->key();
    auto answer = co_await on.read(key);
    std::optional<seam::claim_id> life;
    while (!std::holds_alternative<seam::swapped>(answer)) {
        auto const cell = cell_in(answer, terms->name());
        if (cell.version == 0) co_return;
        auto const state = barrier_state::parse(cell.value, terms->name());
        if (life.value_or(state.life) != state.life) co_return;  // gone, and begun anew
        life = state.life;
        seam::swap swap{key, cell.version, {}};
        swap.remove = true;
        swap.operation = operation;
        answer = co_await on.ask(std::move(swap));
    }
}

}  // namespace holdfast::core
