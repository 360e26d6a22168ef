// Where a store file lies, and whether it is safe to use: checked before SQLite sees it.
#pragma once

#include <string>
#include <string_view>

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include "base/descriptor.hpp"
#include "stores/file/settings.hpp"

namespace holdfast::stores::file {

/// Answers what statfs(2) answers; tests put another one in its place.
using file_system_probe = int (*)(char const*, struct statfs*);

/// The name of a file system that other machines may write to; empty for a local one.
[[nodiscard]] std::string_view network_file_system(long type) noexcept;

/// A store file that exists, is ours to use, and is named by one path only, without symbolic links.
class location {
public:
    /// Finds the file, or makes an empty one that only its owner can open. Throws a
    /// `fault` that names the path and says what to do about it.
    ///
    /// Opens the file only when it made it: closing a descriptor drops every POSIX lock that
    /// this process has on the file, those of SQLite included.
    [[nodiscard]] static location prepare(settings const& wanted,
                                          file_system_probe probe = &::statfs);

    [[nodiscard]] std::string const& path() const noexcept { return path_; }

    /// Opens a companion of the file, `path() + suffix`, and makes it when it is missing, with the
    /// rights of the file itself.
    [[nodiscard]] base::descriptor companion_file(char const* suffix) const;

    /// The same for a directory.
    [[nodiscard]] base::descriptor companion_directory(char const* suffix) const;

    /// The rights and the group that everything beside the file is to have.
    [[nodiscard]] mode_t mode() const noexcept { return mode_; }
    void adopt(int companion, mode_t mode) const noexcept;
    [[nodiscard]] bool has_adopted(int companion) const noexcept;

private:
    std::string path_;
    mode_t mode_{0600};
    uid_t owner_{0};
    gid_t group_{0};
};

}  // namespace holdfast::stores::file
