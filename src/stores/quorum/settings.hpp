// What a URL says of a quorum: its members, each by a URL of its own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/url.hpp"

namespace holdfast::stores::quorum {

struct settings {
    std::vector<base::url> members;
    std::vector<std::string> addresses;  ///< of the members, for people and for their record
    std::chrono::milliseconds longest_lease{0};

    /// Throws errc::bad_url.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::quorum
