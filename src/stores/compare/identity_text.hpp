// Who a client is, as its sessions say it in the store.
#pragma once

#include <string>
#include <string_view>

#include "seam/store.hpp"

namespace holdfast::stores::compare {

[[nodiscard]] std::string write_identity(seam::identity const& who);

/// Fills in what the text says; nothing where it is empty. Throws when it cannot be read.
void read_identity(std::string_view body, seam::identity& who);

}  // namespace holdfast::stores::compare
