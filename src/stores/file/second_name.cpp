#include "stores/file/second_name.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "stores/file/fault.hpp"

namespace holdfast::stores::file {

namespace {

// The number of the mount through which a path is reached. With O_PATH nothing is opened that could
// drop a lock of SQLite's when it is closed.
std::optional<long> mount_of(std::string const& path) {
    base::descriptor const at{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    if (!at) return {};
    auto const about = "/proc/self/fdinfo/" + std::to_string(at.get());
    base::descriptor const in{::open(about.c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 512> text{};
    auto const size = in ? ::read(in.get(), text.data(), text.size()) : 0;
    std::string_view const lines{text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    constexpr std::string_view key = "mnt_id:";
    auto begin = lines.find(key);
    if (begin == std::string_view::npos) return {};
    begin = lines.find_first_not_of(" \t", begin + key.size());
    if (begin == std::string_view::npos) return {};
    long out = 0;
    auto const* const end = lines.data() + lines.size();
    auto const parsed = std::from_chars(lines.data() + begin, end, out);
    return parsed.ec == std::errc{} ? std::optional{out} : std::nullopt;
}

std::string directory_of(std::string const& path) {
    auto const slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

second_name find_second_name(std::string const& path, statx_probe probe) {
    struct statx status {};
    if (probe(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_NLINK, &status) != 0)
        return second_name::none;
    if (status.stx_nlink > 1) return second_name::hard_link;
    if ((status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0)
        return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 ? second_name::mount
                                                                    : second_name::none;
    // Before Linux 5.8.
    auto const own = mount_of(path);
    auto const around = mount_of(directory_of(path));
    return own && around && *own != *around ? second_name::mount : second_name::none;
}

void require_one_name(std::string const& path) {
    std::string words = "the store file '" + path + "' ";
    switch (find_second_name(path)) {
    case second_name::none: return;
    case second_name::hard_link:
        words +=
            "has a second name, a hard link; users of the two names would not see each other's "
            "locks. Remove one of the names (find the other with find -samefile), and share the "
            "directory of the file instead";
        break;
    case second_name::mount:
        words +=
            "is mounted alone (a bind mount of one file, as by docker -v FILE or a subPath of "
            "Kubernetes); whoever uses it elsewhere would not see the locks of those who use it "
            "here. Mount and share the directory of the file instead";
        break;
    }
    refuse(errc::bad_url, std::move(words));
}

}  // namespace holdfast::stores::file
