#include "lock_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "duration.hpp"
#include "terminal.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t column_count = 8;
using row = std::array<std::string, column_count>;

std::string where(claim_info const& claim) { return fmt::format("{}:{}", claim.host, claim.pid); }

row row_of(lock_info const& lock, claim_info const& holder) {
    return {lock.name,
            holder.mode == claim_mode::exclusive ? to_string(lock.kind) : to_string(holder.mode),
            where(holder),
            std::to_string(holder.token),
            short_duration(holder.age),
            short_duration(holder.lease_left),
            std::to_string(lock.waiters.size()),
            holder.label};
}

std::string line_of(row const& cells, std::array<std::size_t, column_count> const& widths) {
    std::string out;
    for (std::size_t i = 0; i < column_count; ++i) {
        auto const text = harmless(cells[i]);
        out += text;
        if (i + 1 < column_count) out.append(widths[i] - width(text) + 2, ' ');
    }
    while (out.ends_with(' '))
        out.pop_back();
    return out;
}

std::string claim_lines(claim_info const& claim, bool holds) {
    std::string out = "  " + where(claim);
    if (!claim.label.empty()) out += fmt::format(" ({})", harmless(claim.label));
    out += "\n";
    if (holds) out += fmt::format("    token  {}\n", claim.token);
    out += fmt::format("    mode   {}", to_string(claim.mode));
    if (claim.mode == claim_mode::permits) out += fmt::format(" {}", claim.permits);
    out += fmt::format("\n    {}  {}\n", holds ? "held " : "waits", short_duration(claim.age));
    if (claim.local)
        out += "    in the line of this process\n";
    else
        out += fmt::format("    lease  {} left\n", short_duration(claim.lease_left));
    out += fmt::format("    owner  {}\n", harmless(claim.owner));
    out += fmt::format("    claim  {}\n", claim.id);
    return out;
}

}  // namespace

std::string table_of(std::vector<lock_info> const& locks, bool colourful) {
    row const heading{"NAME", "KIND", "HOLDER", "TOKEN", "HELD", "LEASE", "WAITERS", "LABEL"};
    std::vector<row> rows;
    for (auto const& lock : locks) {
        for (auto const& holder : lock.holders)
            rows.push_back(row_of(lock, holder));
        if (lock.holders.empty())
            rows.push_back({lock.name, to_string(lock.kind), "-", "-", "-", "-",
                            std::to_string(lock.waiters.size()), ""});
    }
    std::array<std::size_t, column_count> widths{};
    for (std::size_t i = 0; i < column_count; ++i) {
        widths[i] = heading[i].size();
        for (auto const& cells : rows)
            widths[i] = std::max(widths[i], width(cells[i]));
    }
    if (rows.empty()) return {};
    auto out = painted(line_of(heading, widths), colour::bold, colourful) + "\n";
    for (auto const& cells : rows)
        out += line_of(cells, widths) + "\n";
    return out;
}

std::string details_of(lock_info const& lock, bool colourful) {
    auto out = painted(harmless(lock.name), colour::bold, colourful) + "  " + to_string(lock.kind);
    if (lock.limit > 0) out += fmt::format(", limit {}", lock.limit);
    out += "\n";
    if (lock.holders.empty()) out += painted("free", colour::green, colourful) + "\n";
    if (!lock.holders.empty()) out += painted("held by", colour::yellow, colourful) + "\n";
    for (auto const& claim : lock.holders)
        out += claim_lines(claim, true);
    if (!lock.waiters.empty())
        out += painted("waiting, in order", colour::yellow, colourful) + "\n";
    for (auto const& claim : lock.waiters)
        out += claim_lines(claim, false);
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
