// What was probably meant by a word that nobody knows.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::base {

/// The word nearest to `word` by edit distance; empty when none is near enough to be meant.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<std::string_view const> known);

/// "; did you mean 'WORD'?", to end a message with; empty when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<std::string_view const> known);

}  // namespace holdfast::base
