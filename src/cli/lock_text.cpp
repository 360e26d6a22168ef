#include "lock_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "duration.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t column_count = 9;
constexpr std::size_t state_column = 7;
constexpr std::size_t widest_value = 40;
using row = std::array<std::string, column_count>;

// A store of somebody else's layout may not say where a holder is, nor since when.
std::string where(claim_info const& claim) {
    return claim.host.empty() ? claim.owner : fmt::format("{}:{}", claim.host, claim.pid);
}

std::string since(claim_info const& claim) {
    return claim.host.empty() ? "-" : short_duration(claim.age);
}

// What the name itself has agreed on, apart from its claims.
std::string state_of(lock_info const& lock) {
    switch (lock.kind) {
    case lock_kind::semaphore: return lock.limit > 0 ? fmt::format("limit {}", lock.limit) : "";
    case lock_kind::latch:
        return fmt::format("{} of {} left{}", lock.count, lock.limit,
                           lock.count == 0 ? ", open" : "");
    case lock_kind::barrier:
        return fmt::format("{} of {} arrived, generation {}{}", lock.count, lock.limit,
                           lock.generation, lock.broken ? ", broken" : "");
    case lock_kind::lock:
    case lock_kind::condition:
    case lock_kind::election: break;
    }
    return {};
}

std::string state_of(lock_info const& lock, claim_info const& holder) {
    if (holder.kept) return "released, kept";
    if (lock.kind == lock_kind::election) return fitted(holder.value, widest_value);
    if (lock.kind == lock_kind::semaphore && lock.limit > 0)
        return fmt::format("{} of {}", holder.permits, lock.limit);
    return state_of(lock);
}

row row_of(lock_info const& lock, claim_info const& holder) {
    bool const reads = lock.kind == lock_kind::lock && holder.mode == claim_mode::shared;
    return {lock.name,
            reads ? to_string(holder.mode) : to_string(lock.kind),
            where(holder),
            std::to_string(holder.token),
            since(holder),
            short_duration(holder.lease_left),
            std::to_string(lock.waiters.size()),
            state_of(lock, holder),
            holder.label};
}

row row_of(lock_info const& lock) {
    return {lock.name,
            to_string(lock.kind),
            "-",
            "-",
            "-",
            "-",
            std::to_string(lock.waiters.size()),
            state_of(lock),
            ""};
}

using widths_of_columns = std::array<std::size_t, column_count>;

std::string line_of(row const& cells, widths_of_columns const& widths) {
    std::string out;
    for (std::size_t i = 0; i < column_count; ++i) {
        if (widths[i] == 0) continue;
        out += cells[i];
        if (i + 1 < column_count) out.append(widths[i] - width(cells[i]) + 2, ' ');
    }
    while (out.ends_with(' '))
        out.pop_back();
    return out;
}

std::string claim_lines(lock_kind kind, claim_info const& claim, bool holds) {
    std::string out = "  " + harmless(where(claim));
    if (!claim.label.empty()) out += fmt::format(" ({})", harmless(claim.label));
    out += "\n";
    if (holds) out += fmt::format("    token  {}\n", claim.token);
    if (kind == lock_kind::election) out += fmt::format("    value  {}\n", harmless(claim.value));
    out += fmt::format("    mode   {}", to_string(claim.mode));
    if (claim.mode == claim_mode::permits) out += fmt::format(" {}", claim.permits);
    bool const waits = !holds || kind == lock_kind::barrier;
    out += fmt::format("\n    {}  {}\n", waits ? "waits" : "held ", since(claim));
    if (claim.kept) out += "    released, and kept until its minimum hold is over\n";
    if (claim.local)
        out += "    in the line of this process\n";
    else
        out += fmt::format("    lease  {} left\n", short_duration(claim.lease_left));
    out += fmt::format("    owner  {}\n", harmless(claim.owner));
    out += fmt::format("    claim  {}\n", claim.id);
    return out;
}

// What is said above those who hold, and where nobody does.
struct headings {
    char const* holders;
    char const* nobody;
    char const* waiters;
};

headings headings_of(lock_kind kind) {
    switch (kind) {
    case lock_kind::barrier: return {"arrived", "", "waiting, in order"};
    case lock_kind::election: return {"led by", "no leader", "candidates, in order"};
    case lock_kind::latch:
    case lock_kind::condition: return {"held by", "", "waiting, in order"};
    case lock_kind::lock:
    case lock_kind::semaphore: break;
    }
    return {"held by", "free", "waiting, in order"};
}

}  // namespace

std::string table_of(std::vector<lock_info> const& locks, bool colourful) {
    row const heading{"NAME",  "KIND",    "HOLDER", "TOKEN", "HELD",
                      "LEASE", "WAITERS", "STATE",  "LABEL"};
    std::vector<row> rows;
    for (auto const& lock : locks) {
        for (auto const& holder : lock.holders)
            rows.push_back(row_of(lock, holder));
        if (lock.holders.empty()) rows.push_back(row_of(lock));
    }
    if (rows.empty()) return {};
    widths_of_columns widths{};
    for (auto& cells : rows)
        for (std::size_t i = 0; i < column_count; ++i) {
            cells[i] = harmless(cells[i]);
            widths[i] = std::max(widths[i], width(cells[i]));
        }
    // Most stores know locks only, which have nothing to say there.
    for (std::size_t i = 0; i < column_count; ++i)
        if (i != state_column || widths[i] > 0) widths[i] = std::max(widths[i], heading[i].size());
    auto out = painted(line_of(heading, widths), colour::bold, colourful) + "\n";
    for (auto const& cells : rows)
        out += line_of(cells, widths) + "\n";
    return out;
}

std::string details_of(lock_info const& lock, bool colourful) {
    auto out = painted(harmless(lock.name), colour::bold, colourful) + "  " + to_string(lock.kind);
    if (auto const state = state_of(lock); !state.empty()) out += ", " + state;
    out += "\n";
    auto const say = headings_of(lock.kind);
    if (lock.holders.empty() && *say.nobody != '\0')
        out += painted(say.nobody, colour::green, colourful) + "\n";
    if (!lock.holders.empty()) out += painted(say.holders, colour::yellow, colourful) + "\n";
    for (auto const& claim : lock.holders)
        out += claim_lines(lock.kind, claim, true);
    if (!lock.waiters.empty()) out += painted(say.waiters, colour::yellow, colourful) + "\n";
    for (auto const& claim : lock.waiters)
        out += claim_lines(lock.kind, claim, false);
    return out;
}

std::string text_of(std::vector<std::vector<deadlock_step>> const& cycles) {
    if (cycles.empty()) return "no owners wait for each other\n";
    std::string out;
    for (auto const& cycle : cycles) {
        out += fmt::format("a cycle of {}:\n", cycle.size());
        for (auto const& [name, waiter] : cycle)
            out += fmt::format("  {} (host {}, pid {}) has waited for '{}' for {}\n",
                               harmless(waiter.owner), harmless(waiter.host), waiter.pid,
                               harmless(name), short_duration(waiter.age));
    }
    return out;
}

}  // namespace holdfast::cli
