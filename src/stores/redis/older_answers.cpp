#include "stores/redis/older_answers.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::stores::redis {

void older_answers::add(server_address from, topology what) {
    forget(from);
    told_.push_back({std::move(from), std::move(what)});
}

void older_answers::forget(server_address const& from) {
    std::erase_if(told_, [&](answer_of const& each) { return each.from == from; });
}

bool older_answers::has(server_address const& from) const {
    return std::ranges::find(told_, from, &answer_of::from) != told_.end();
}

std::vector<server_address> older_answers::guides() const {
    std::vector<server_address> out;
    for (auto const& each : told_)
        out.insert(out.end(), each.what.guides.begin(), each.what.guides.end());
    std::ranges::sort(out);
    auto const repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
}

bool older_answers::is_named_by_another(server_address const& whom) const {
    return std::ranges::any_of(told_, [&](answer_of const& each) {
        return each.from != whom &&
               std::ranges::find(each.what.guides, whom) != each.what.guides.end();
    });
}

// A sentinel that is asked by two names is named by the others by one of them, and counts once.
topology const* older_answers::agreed(std::size_t count) const {
    if (told_.empty()) return nullptr;
    auto const all = guides();
    if (!std::ranges::all_of(all, [this](auto const& each) { return has(each); })) return nullptr;
    auto const known = std::ranges::count_if(
        told_, [this](answer_of const& each) { return is_named_by_another(each.from); });
    if (2 * std::max<std::size_t>(1, static_cast<std::size_t>(known)) <= count) return nullptr;
    return &std::ranges::max_element(told_, {}, [](answer_of const& each) {
                return each.what.epoch;
            })->what;
}

}  // namespace holdfast::stores::redis
