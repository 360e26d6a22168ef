// A barrier's state as text, and what it remembers of earlier generations.
#include <string>
#include <utility>

#include "core/barrier.hpp"
#include "core/cells.hpp"

namespace holdfast::core {

namespace {

constexpr std::uint32_t most_parties = 1U << 20;
constexpr int generations_known = 64;

}  // namespace

barrier_state barrier_state::parse(std::string_view value, std::string_view name) {
    cell_reader words{value, name};
    barrier_state out;
    out.parties = static_cast<std::uint32_t>(words.number(most_parties));
    out.generation = words.number();
    out.broken = words.number(1) == 1;
    out.tripped = words.number();
    out.life = words.id();
    auto const arrived = words.number(most_parties);
    for (std::uint64_t i = 0; i < arrived; ++i)
        out.arrived.push_back(words.id());
    while (!words.at_end() && out.before.size() < most_parties)
        out.before.push_back(words.id());
    return out;
}

std::string barrier_state::text() const {
    std::string out;
    add_word(out, std::to_string(parties));
    add_word(out, std::to_string(generation));
    add_word(out, broken ? "1" : "0");
    add_word(out, std::to_string(tripped));
    add_word(out, to_string(life));
    add_word(out, std::to_string(arrived.size()));
    for (auto const& id : arrived)
        add_word(out, to_string(id));
    for (auto const& id : before)
        add_word(out, to_string(id));
    return out;
}

void barrier_state::turn(bool trips) {
    ++generation;
    broken = false;
    tripped = tripped << 1 | (trips ? 1U : 0U);
    before = trips ? std::exchange(arrived, {}) : std::vector<seam::claim_id>{};
    arrived.clear();
}

std::optional<bool> barrier_state::has_tripped(std::uint64_t earlier) const {
    auto const age = generation - earlier - 1;
    if (earlier >= generation || age >= generations_known) return std::nullopt;
    return (tripped >> age & 1) == 1;
}

}  // namespace holdfast::core
