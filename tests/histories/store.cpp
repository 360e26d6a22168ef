#include "histories/store.hpp"

#include <map>
#include <stdexcept>

#include "histories/plan.hpp"

namespace holdfast::histories {

namespace {

std::map<std::string, store_row::maker>& rows() {
    static std::map<std::string, store_row::maker> all;
    return all;
}

}  // namespace

std::string url_options(bool has_options) {
    return std::string{has_options ? "&" : "?"} + "lease=" + std::to_string(longest_lease.count()) +
           "ms";
}

store_row::store_row(std::string name, maker make) {
    rows().emplace(std::move(name), std::move(make));
}

std::unique_ptr<store> store_row::make(std::string const& name, std::uint64_t seed) {
    auto const found = rows().find(name);
    if (found == rows().end()) throw std::invalid_argument{"no store is called '" + name + "'"};
    return found->second(seed);
}

std::vector<std::string> store_row::names() {
    std::vector<std::string> out;
    for (auto const& [name, make] : rows())
        out.push_back(name);
    return out;
}

}  // namespace holdfast::histories
