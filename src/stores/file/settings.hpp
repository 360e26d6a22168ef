// What a file: URL asks for.
#pragma once

#include <chrono>
#include <string>

#include "base/url.hpp"

namespace holdfast::stores::file {

struct settings {
    std::string path;                         ///< absolute; the file need not exist
    std::chrono::milliseconds timeout{5000};  ///< how long to wait while others write
    bool network{false};                      ///< use it even on a network file system

    /// Throws errc::bad_url. A relative path is resolved now, so that a later chdir changes nothing.
    [[nodiscard]] static settings parse(base::url const& url);
};

}  // namespace holdfast::stores::file
