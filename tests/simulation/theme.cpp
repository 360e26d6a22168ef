#include "simulation/theme.hpp"

namespace holdfast::simulation {

namespace {

constexpr char const* names[] = {"locks",   "readers",  "permits",   "fair",    "latch",
                                 "barrier", "election", "condition", "together"};

}  // namespace

// By the seed's number alone: the seeds of locks go on meaning what they meant before there were
// others.
theme theme_of(std::uint64_t seed) noexcept {
    using enum theme;
    constexpr theme of[16] = {locks, readers, locks,    permits,   locks,    fair,  locks, latch,
                              locks, barrier, election, condition, together, locks, locks, locks};
    return of[seed % 16];
}

char const* to_string(theme it) noexcept { return names[static_cast<int>(it)]; }

std::optional<theme> find_theme(std::string_view name) noexcept {
    for (int i = 0; i < static_cast<int>(std::size(names)); ++i)
        if (name == names[i]) return static_cast<theme>(i);
    return std::nullopt;
}

}  // namespace holdfast::simulation
