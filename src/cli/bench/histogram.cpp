#include "bench/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace holdfast::cli {

// Below 2^fine_bits a bucket is one nanosecond; above, each power of two has as many buckets again.
std::size_t histogram::bucket_of(std::uint64_t ns) noexcept {
    if (ns < fine) return ns;
    auto const shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - fine_bits;
    return (std::size_t{shift} + 1) * fine + static_cast<std::size_t>((ns >> shift) - fine);
}

std::uint64_t histogram::top_of(std::size_t bucket) noexcept {
    if (bucket < fine) return bucket;
    auto const shift = bucket / fine - 1;
    return ((std::uint64_t{bucket % fine} + fine + 1) << shift) - 1;
}

void histogram::add(std::chrono::nanoseconds latency) noexcept {
    auto const ns = static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0));
    ++buckets_[bucket_of(ns)];
    ++count_;
    max_ns_ = std::max(max_ns_, ns);
}

void histogram::merge(histogram const& other) noexcept {
    for (std::size_t i = 0; i < size; ++i)
        buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    max_ns_ = std::max(max_ns_, other.max_ns_);
}

double histogram::max_us() const noexcept { return static_cast<double>(max_ns_) / 1000; }

double histogram::quantile_us(double q) const noexcept {
    auto const wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < size; ++i) {
        seen += buckets_[i];
        if (seen >= wanted && seen > 0)
            return static_cast<double>(std::min(top_of(i), max_ns_)) / 1000;
    }
    return 0;
}

}  // namespace holdfast::cli
