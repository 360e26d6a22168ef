#include "core/latch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/cells.hpp"
#include "core/task_context.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t recent_kept = 32;
// Of so many it is remembered one by one whether they came to their end.
constexpr std::uint64_t rounds_known = 64;

seam::swap change(latch_terms const& terms, std::uint64_t version, latch_state const& to,
                  seam::claim_id operation) {
    seam::swap out{terms.key(), version, to.text()};
    out.ttl = to.deleted     ? deleted_latch_kept
              : to.left == 0 ? finished_latch_kept
                             : open_latch_kept;
    out.operation = operation;
    return out;
}

void check_agreement(latch_terms const& terms, latch_state const& found) {
    if (terms.count && *terms.count != found.declared)
        base::raise(errc::limit_mismatch,
                    "the latch '" + terms.name + "' was declared with a count of " +
                        std::to_string(found.declared) + ", not " + std::to_string(*terms.count));
}

// What the cell says; nothing when there is no latch, or one that was deleted.
std::optional<latch_state> found_in(latch_terms const& terms, seam::cell const& cell) {
    if (cell.version == 0) return std::nullopt;
    auto found = latch_state::parse(cell.value, terms.name);
    if (found.deleted) return std::nullopt;
    return found;
}

// The round is over, in whatever state.
void note_end(latch_state& of) {
    if ((of.ended & 1U) == 0) of.cut_short = of.round;
}

// A new round, after whatever the cell has seen before.
latch_state begin_round(latch_terms const& terms, seam::cell const& cell, std::uint32_t count) {
    auto out = cell.version == 0 ? latch_state{} : latch_state::parse(cell.value, terms.name);
    note_end(out);
    out.declared = count;
    out.left = count;
    ++out.round;
    out.ended = (out.ended << 1U) | (count == 0 ? 1U : 0U);
    out.deleted = false;
    return out;
}

// What the cell says, or would say once it is declared.
latch_state state_of(latch_terms const& terms, seam::cell const& cell) {
    if (auto found = found_in(terms, cell)) {
        check_agreement(terms, *found);
        return *std::move(found);
    }
    if (!terms.count)
        base::raise(errc::bad_option,
                    "there is no latch '" + terms.name + "'; declare it first, with its count");
    return begin_round(terms, cell, *terms.count);
}

void add_operation(latch_state& to, seam::claim_id operation) {
    ++to.changes;
    to.recent.insert(to.recent.begin(), operation);
    if (to.recent.size() > recent_kept) to.recent.pop_back();
}

// What became of a swap that was answered with a conflict. Where its operation is not among the recent
// ones, one that was sent once has changed nothing, however many others have; only that of which an
// answer was lost may have.
bool took_effect(latch_state const& found, latch_state const& sent, seam::claim_id operation,
                 bool sent_again) {
    if (std::ranges::find(found.recent, operation) != found.recent.end()) return true;
    if (sent_again && found.changes >= sent.changes + recent_kept)
        base::raise(errc::store_unavailable,
                    "whether the latch was changed is unknown: its answer was lost, and others "
                    "have changed it "
                    "since");
    return false;
}

// Swaps the cell from what it says to what `next` makes of it, until that took effect. `next` returns nothing
// when there is nothing to do.
template <class Next>
task change_latch(task_context& on, latch_terms_ptr terms, Next next) {
    auto const operation = on.next_operation();
    auto answer = co_await on.read(terms->key());
    auto cell = cell_in(answer, terms->name);
    while (auto state = next(cell)) {
        add_operation(*state, operation);
        auto swap = change(*terms, cell.version, *state, operation);
        answer = co_await on.ask(std::move(swap));
        if (std::holds_alternative<seam::swapped>(answer)) co_return;
        cell = cell_in(answer, terms->name);
        if (cell.version == 0) continue;
        auto const found = latch_state::parse(cell.value, terms->name);
        if (took_effect(found, *state, operation, on.sent_again())) co_return;
    }
}

/// The round that a wait is for: the one that it finds, or the next to begin where it finds none. Rounds that begin and end
/// between two looks are not overlooked: their numbers tell.
class waited_round {
public:
    explicit waited_round(std::uint64_t number) : number_{number} {}

    /// Whether that round has come to its end and another state has followed, by what the cell says now. Throws `lost` when
    /// it was reset or deleted before its end.
    [[nodiscard]] bool is_over(latch_terms const& terms, seam::cell const& cell) {
        auto const before = std::exchange(version_, cell.version);
        if (cell.version == 0) {
            number_ = 1;  // of a new latch; where there was one, nobody knows how it ended
            return false;
        }
        auto const found = latch_state::parse(cell.value, terms.name);
        if (number_ == 0) {
            number_ = found.deleted ? found.round + 1 : found.round;
        } else if (found.round < number_ && cell.version != before) {
            number_ =
                1;  // numbers only rise: it was forgotten, and has begun anew since the last look
        }
        if (found.round < number_ || (found.round == number_ && !found.deleted)) return false;
        auto const age = found.round - number_;
        bool const ended =
            age < rounds_known ? (found.ended >> age & 1U) != 0 : number_ > found.cut_short;
        if (ended) return true;
        base::raise(errc::lost, "the latch '" + terms.name + "' was " +
                                    (found.deleted ? "deleted" : "reset") +
                                    " while it was waited for");
    }

private:
    std::uint64_t number_;      ///< 0 before the first look
    std::uint64_t version_{0};  ///< of the cell, at the last one
};

}  // namespace

latch_state latch_state::parse(std::string_view value, std::string_view name) {
    cell_reader words{value, name};
    latch_state out;
    out.declared = static_cast<std::uint32_t>(words.number(UINT32_MAX));
    out.left = static_cast<std::uint32_t>(words.number(out.declared));
    out.changes = words.number();
    out.round = words.number();
    out.ended = words.number();
    out.cut_short = words.number();
    out.deleted = words.number(1) == 1;
    while (!words.at_end() && out.recent.size() < recent_kept)
        out.recent.push_back(words.id());
    return out;
}

std::string latch_state::text() const {
    std::string out;
    add_word(out, std::to_string(declared));
    add_word(out, std::to_string(left));
    add_word(out, std::to_string(changes));
    add_word(out, std::to_string(round));
    add_word(out, std::to_string(ended));
    add_word(out, std::to_string(cut_short));
    add_word(out, deleted ? "1" : "0");
    for (auto const& id : recent)
        add_word(out, to_string(id));
    return out;
}

task count_down_latch(task_context& on, latch_terms_ptr terms, std::uint32_t n, std::uint32_t& left,
                      std::uint64_t* round) {
    auto const operation = on.next_operation();
    auto const key = terms->key();
    auto answer = co_await on.read(key);
    auto cell = cell_in(answer, terms->name);
    for (;;) {
        auto next = state_of(*terms, cell);
        left = next.left;
        if (round != nullptr) *round = next.round;
        if (found_in(*terms, cell) && (n == 0 || next.left == 0)) co_return;
        next.left -= std::min(n, next.left);
        if (next.left == 0) next.ended |= 1U;
        add_operation(next, operation);
        auto swap = change(*terms, cell.version, next, operation);
        swap.quiet = next.left > 0;  // nobody waits for a count that is not zero
        answer = co_await on.ask(std::move(swap));
        left = next.left;
        if (std::holds_alternative<seam::swapped>(answer)) co_return;
        cell = cell_in(answer, terms->name);
        if (cell.version == 0) continue;
        // It may have taken effect in a round that is over: that is asked first.
        auto const found = latch_state::parse(cell.value, terms->name);
        left = found.left;
        if (took_effect(found, next, operation, on.sent_again())) co_return;
    }
}

task reset_latch(task_context& on, latch_terms_ptr terms, std::uint32_t count) {
    return change_latch(on, terms, [terms, count](seam::cell const& cell) {
        return std::optional{begin_round(*terms, cell, count)};
    });
}

task delete_latch(task_context& on, latch_terms_ptr terms) {
    return change_latch(on, terms, [terms](seam::cell const& cell) {
        auto found = found_in(*terms, cell);
        if (found) {
            note_end(*found);
            found->deleted = true;
        }
        return found;
    });
}

task wait_for_latch(task_context& on, latch_terms_ptr terms, bool& finished, bool wait,
                    std::uint64_t number) {
    finished = false;
    auto const key = terms->key();
    auto touched = on.now();
    waited_round round{number};
    bool in_time = true;
    bool answered = false;
    while (in_time) {
        std::uint64_t seen = 0;
        seam::reply_body answer;
        try {
            if (wait) co_await on.watch(key);
            seen = on.changes(key);
            answer = co_await on.read(key);
        } catch (std::system_error const&) {
            if (!answered || on.now() < on.deadline()) throw;
            co_return;  // the store has said that it is not finished, and the time is over
        }
        answered = true;
        auto const cell = cell_in(answer, terms->name);
        finished = round.is_over(*terms, cell);
        if (finished) co_return;
        bool const declared = found_in(*terms, cell).has_value();
        if (declared || terms->count) {
            auto const state = state_of(*terms, cell);
            finished = state.left == 0;
            if (finished) co_return;
            // It is declared by the first who needs it, and lives as long as somebody waits.
            if (!declared || on.now() - touched > open_latch_kept / 4) {
                auto swap = change(*terms, cell.version, state, on.next_operation());
                swap.quiet = true;
                answer = co_await on.ask(std::move(swap));
                if (!std::holds_alternative<seam::swapped>(answer)) {
                    (void)cell_in(answer, terms->name);  // throws when the name is of another kind
                    continue;
                }
                touched = on.now();
            }
        }
        if (!wait) co_return;
        in_time = co_await on.change(key, seen, slow_poll);
    }
}

}  // namespace holdfast::core
