#include "base/suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace holdfast::base {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            auto const change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<std::string_view const> known) {
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (auto const candidate : known) {
        auto const distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<std::string_view const> known) {
    auto const near = nearest(word, known);
    return near.empty() ? std::string{} : "; did you mean '" + std::string{near} + "'?";
}

}  // namespace holdfast::base
