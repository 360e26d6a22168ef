#include "stores/zookeeper/known_nodes.hpp"

#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "stores/zookeeper/paths.hpp"

namespace holdfast::stores::zookeeper {

namespace {

constexpr std::size_t most_known = 20'000;
constexpr std::chrono::milliseconds lately{50};

}  // namespace

known_node const* known_nodes::find(compare::name_key const& key) const {
    auto const found = all_.find(key);
    return found == all_.end() ? nullptr : &found->second;
}

bool known_nodes::was_taken_lately(compare::name_key const& key) const {
    auto const* const known = find(key);
    return known != nullptr && known->written != compare::stamp{} &&
           known->learned + lately > base::boot_clock::now();
}

void known_nodes::learn(compare::name_key const& key, known_node what) {
    what.learned = base::boot_clock::now();
    if (all_.size() >= most_known) all_.erase(all_.begin());
    all_.insert_or_assign(key, std::move(what));
}

// `<version> <life> <n or c><name>`
std::string known_nodes::words(compare::name_key const& key, known_node const& node) {
    return std::to_string(node.version) + " " + node.life + " " + (key.condition ? "c" : "n") +
           paths::escaped(key.name);
}

void known_nodes::learn_from(std::string_view words, compare::stamp written) {
    auto const first = words.find(' ');
    auto const second = words.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) return;
    auto const version = base::parse_number(words.substr(0, first), INT32_MAX);
    auto const name = words.substr(second + 1);
    if (!version || name.empty()) return;
    compare::name_key const key{paths::unescaped(name.substr(1)), name.front() == 'c'};
    if (auto const* const known = find(key); known != nullptr && known->written > written) return;
    learn(key, {.written = written,
                .version = static_cast<int>(*version),
                .life = std::string{words.substr(first + 1, second - first - 1)}});
}

}  // namespace holdfast::stores::zookeeper
