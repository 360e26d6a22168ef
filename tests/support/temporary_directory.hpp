// A directory of one test's own.
#pragma once

#include <filesystem>

namespace holdfast::support {

/// Removed with all that is in it when the object ends.
class temporary_directory {
public:
    explicit temporary_directory(
        std::filesystem::path const& under = std::filesystem::temp_directory_path());
    ~temporary_directory();
    temporary_directory(temporary_directory const&) = delete;
    temporary_directory& operator=(temporary_directory const&) = delete;

    [[nodiscard]] std::filesystem::path const& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace holdfast::support
