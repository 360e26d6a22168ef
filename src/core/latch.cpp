#include "core/latch.hpp"

#include <algorithm>
#include <utility>

#include "core/cells.hpp"
#include "core/stage.hpp"

namespace holdfast::core {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t recent_kept = 32;
constexpr std::chrono::seconds slow_poll{5};

seam::swap change(latch_terms const& its, std::uint64_t version, latch_state const& to,
                  seam::claim_id operation) {
    seam::swap out{its.key(), version, to.text()};
    out.ttl = to.left == 0 ? finished_latch_kept : open_latch_kept;
    out.operation = operation;
    out.quiet = to.left > 0;  // nobody waits for a count that is not zero
    return out;
}

void check_agreement(latch_terms const& its, latch_state const& found) {
    if (its.count && *its.count != found.declared)
        base::raise(errc::limit_mismatch,
                    "the latch '" + its.name + "' was declared with a count of " +
                        std::to_string(found.declared) + ", not " + std::to_string(*its.count));
}

// What the cell says, or would say once it is declared.
latch_state state_of(latch_terms const& its, seam::cell const& cell) {
    if (cell.version != 0) {
        auto found = latch_state::parse(cell.value, its.name);
        check_agreement(its, found);
        return found;
    }
    if (!its.count)
        base::raise(errc::bad_option,
                    "there is no latch '" + its.name + "'; declare it first, with its count");
    return {*its.count, *its.count};
}

// What became of a swap that was answered with a conflict. Where its operation is not among the recent
// ones, one that was sent once has changed nothing, however many others have; only that of which an
// answer was lost may have.
bool took_effect(latch_state const& now, latch_state const& sent, seam::claim_id operation,
                 bool sent_again) {
    if (std::ranges::find(now.recent, operation) != now.recent.end()) return true;
    if (sent_again && now.changes >= sent.changes + recent_kept)
        base::raise(
            errc::store_unavailable,
            "whether the latch was counted down is unknown: its answer was lost, and others "
            "have counted on since");
    return false;
}

}  // namespace

latch_state latch_state::parse(std::string_view value, std::string_view name) {
    cell_reader words{value, name};
    latch_state out;
    out.declared = static_cast<std::uint32_t>(words.number(UINT32_MAX));
    out.left = static_cast<std::uint32_t>(words.number(out.declared));
    out.changes = words.number();
    while (!words.at_end() && out.recent.size() < recent_kept)
        out.recent.push_back(words.id());
    return out;
}

std::string latch_state::text() const {
    std::string out;
    add_word(out, std::to_string(declared));
    add_word(out, std::to_string(left));
    add_word(out, std::to_string(changes));
    for (auto const& id : recent)
        add_word(out, to_string(id));
    return out;
}

script count_down_latch(stage& on, latch_terms_ptr its, std::uint32_t n, std::uint32_t& left) {
    auto const operation = on.next_operation();
    auto const key = its->key();
    auto answer = co_await on.read(key);
    auto cell = cell_in(answer, its->name);
    for (;;) {
        auto next = state_of(*its, cell);
        left = next.left;
        if (cell.version != 0 && (n == 0 || next.left == 0)) co_return;
        next.left -= std::min(n, next.left);
        ++next.changes;
        next.recent.insert(next.recent.begin(), operation);
        if (next.recent.size() > recent_kept) next.recent.pop_back();
        auto swap = change(*its, cell.version, next, operation);
        answer = co_await on.ask(std::move(swap));
        left = next.left;
        if (std::holds_alternative<seam::swapped>(answer)) co_return;
        cell = cell_in(answer, its->name);
        if (cell.version == 0) continue;
        auto const found = state_of(*its, cell);
        left = found.left;
        if (took_effect(found, next, operation, on.sent_again())) co_return;
    }
}

script wait_for_latch(stage& on, latch_terms_ptr its, bool& finished, bool wait) {
    finished = false;
    auto const key = its->key();
    auto touched = on.now();
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
        auto const cell = cell_in(answer, its->name);
        if (cell.version != 0 || its->count) {
            auto const state = state_of(*its, cell);
            finished = state.left == 0;
            if (finished) co_return;
            // It is declared by the first who needs it, and lives as long as somebody waits.
            if (cell.version == 0 || on.now() - touched > open_latch_kept / 4) {
                auto swap = change(*its, cell.version, state, on.next_operation());
                answer = co_await on.ask(std::move(swap));
                if (!std::holds_alternative<seam::swapped>(answer)) {
                    (void)cell_in(answer, its->name);  // throws when the name is of another kind
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
