// Randomness that is passed in: seeded once, the same sequence ever after.
#pragma once

#include <cstdint>

namespace holdfast::base {

/// SplitMix64: small, fast, good enough for jitter and identifiers; not for secrets.
/// Thread-safety: none; each owner has its own.
class random {
public:
    explicit random(std::uint64_t seed) noexcept : state_{seed} {}

    [[nodiscard]] std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, bound); 0 for a bound of 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
        return bound == 0 ? 0 : next() % bound;
    }

    /// True once in `n` on average.
    [[nodiscard]] bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }

private:
    std::uint64_t state_;
};

/// 64 bits from the operating system.
[[nodiscard]] std::uint64_t entropy();

}  // namespace holdfast::base
