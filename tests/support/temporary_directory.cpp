#include "support/temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace holdfast::support {

temporary_directory::temporary_directory(std::filesystem::path const& under) {
    auto name = (under / "holdfast-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::system_error{errno, std::generic_category(), "mkdtemp " + name};
    path_ = name;
}

temporary_directory::~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace holdfast::support
