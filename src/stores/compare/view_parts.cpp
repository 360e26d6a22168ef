#include "stores/compare/view_parts.hpp"

#include <algorithm>

namespace holdfast::stores::compare {

void arrange_line(view& found, name_query const& what) {
    auto& line = found.line;
    std::ranges::sort(line, {}, &line_item::place);
    line.erase(std::ranges::unique(line, {}, &line_item::place).begin(), line.end());
    if (line.size() <= what.line) return;
    for (auto each = line.begin() + what.line; each != line.end(); ++each)
        if (std::ranges::find(what.claims, each->id) != what.claims.end())
            found.others.push_back(std::move(*each));
    line.resize(what.line);
    found.more = true;
}

std::optional<std::string> behind_prefix(std::string prefix) {
    while (!prefix.empty()) {
        if (static_cast<unsigned char>(prefix.back()) != 0xff) {
            ++prefix.back();
            return prefix;
        }
        prefix.pop_back();
    }
    return std::nullopt;
}

}  // namespace holdfast::stores::compare
