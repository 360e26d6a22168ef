// One name in the listing of a store.
#pragma once

#include <optional>
#include <string>

#include <holdfast/client.hpp>

namespace holdfast::cli {

/// What the store knows of the name as this kind; nothing when it knows nothing.
[[nodiscard]] std::optional<lock_info> find_name(client& client, std::string const& name,
                                                 lock_kind kind);

}  // namespace holdfast::cli
