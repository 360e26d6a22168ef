// A resource that is guarded by fencing tokens, as the documentation asks of its users.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace holdfast::support {

/// A text in a file, beside the highest token that wrote it. Writes with a smaller token are
/// refused. Works between processes.
class fenced_file {
public:
    explicit fenced_file(std::filesystem::path path) : path_{std::move(path)} {}

    /// False when a higher token has been seen.
    [[nodiscard]] bool write(std::uint64_t token, std::string const& text) const;

    [[nodiscard]] std::string read() const;

private:
    std::filesystem::path path_;
};

}  // namespace holdfast::support
