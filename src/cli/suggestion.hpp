// What was probably meant by a word that nobody knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// The one of `known` that is nearest to `word`; empty when none is near.
[[nodiscard]] std::string nearest(std::string_view word, std::vector<std::string> const& known);

/// "; did you mean 'WORD'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::vector<std::string> const& known);

}  // namespace holdfast::cli
