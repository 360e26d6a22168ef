#include "suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace holdfast::cli {

namespace {

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            auto const replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::vector<std::string> const& known) {
    std::string best;
    auto least = std::max<std::size_t>(word.size() / 3, 2) + 1;
    for (auto const& candidate : known)
        if (auto const d = distance(word, candidate); d < least) least = d, best = candidate;
    return best;
}

std::string did_you_mean(std::string_view word, std::vector<std::string> const& known) {
    auto const near = nearest(word, known);
    return near.empty() ? near : "; did you mean '" + near + "'?";
}

}  // namespace holdfast::cli
