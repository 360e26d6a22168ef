#include "lookup.hpp"

#include <utility>

namespace holdfast::cli {

std::optional<lock_info> find_name(client& client, std::string const& name, lock_kind kind) {
    for (auto& each : client.locks(name))
        if (each.name == name && each.kind == kind) return std::move(each);
    return std::nullopt;
}

}  // namespace holdfast::cli
