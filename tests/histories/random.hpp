// random: choices of a run, from its seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace holdfast::histories {

/// Not thread-safe: each party has its own.
class random {
public:
    /// One stream for each pair of a run's seed and a number.
    random(std::uint64_t seed, std::uint64_t stream) {
        std::seed_seq mix{seed >> 32, seed & 0xffffffff, stream >> 32, stream & 0xffffffff};
        engine_.seed(mix);
    }

    [[nodiscard]] std::uint64_t below(std::uint64_t end) { return engine_() % end; }
    /// Once in `n` times.
    [[nodiscard]] bool once_in(std::uint64_t n) { return below(n) == 0; }
    [[nodiscard]] std::chrono::milliseconds between(std::chrono::milliseconds low,
                                                    std::chrono::milliseconds high) {
        auto const range = static_cast<std::uint64_t>((high - low).count());
        return low + std::chrono::milliseconds{static_cast<std::int64_t>(below(range + 1))};
    }
    template <class Range>
    [[nodiscard]] auto const& one_of(Range const& range) {
        return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace holdfast::histories
