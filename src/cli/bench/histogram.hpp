// Latencies counted in buckets, each at most 1.6 % wide.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::cli {

/// Plain memory, so that it may lie in a page shared between processes. One writer.
class histogram {
public:
    void add(std::chrono::nanoseconds latency) noexcept;
    void merge(histogram const& other) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] double max_us() const noexcept;

    /// The smallest latency that the share `q` of all did not exceed.
    [[nodiscard]] double quantile_us(double q) const noexcept;

private:
    static constexpr unsigned fine_bits = 6;
    static constexpr std::size_t fine = std::size_t{1} << fine_bits;
    static constexpr std::size_t size = (64 - fine_bits + 1) * fine;

    [[nodiscard]] static std::size_t bucket_of(std::uint64_t ns) noexcept;
    [[nodiscard]] static std::uint64_t top_of(std::size_t bucket) noexcept;

    std::array<std::uint32_t, size> buckets_{};
    std::uint64_t count_{0};
    std::uint64_t max_ns_{0};
};

}  // namespace holdfast::cli
