// Small works on views and names that several drivers need.
#pragma once

#include <optional>
#include <string>

#include "stores/compare/view.hpp"

namespace holdfast::stores::compare {

/// Makes a line of what was found in any order: in the order of places, each once, no longer than it was asked for. Of
/// those behind it, the claims that were asked for become `others`.
void arrange_line(view& found, name_query const& what);

/// The first bytes behind all those that begin with `prefix`; nothing when there are none.
[[nodiscard]] std::optional<std::string> behind_prefix(std::string prefix);

}  // namespace holdfast::stores::compare
