// Loaded before a PostgreSQL or MariaDB server starts (LD_PRELOAD): as long as the file HOLDFAST_TEST_DISK_FULL is there, no table
// of the server can grow. A small file system would do the same, but only root may mount one.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

/// Tables are under base/, or end in .ibd. The log of the server stays out of it: it is written before they are.
bool is_table(int file) noexcept {
    char link[64];
    char path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    auto const length = ::readlink(link, path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = '\0';
    return std::strstr(path, "/base/") != nullptr || std::strstr(path, ".ibd") != nullptr;
}

bool has_no_room(int file, off_t end) noexcept {
    static char const* const marker = std::getenv("HOLDFAST_TEST_DISK_FULL");
    if (marker == nullptr || ::access(marker, F_OK) != 0 || !is_table(file)) return false;
    struct stat found {};
    return ::fstat(file, &found) == 0 && end > found.st_size;
}

}  // namespace

extern "C" {

ssize_t pwrite(int file, void const* bytes, size_t count, off_t at) noexcept {
    if (!has_no_room(file, at + static_cast<off_t>(count)))
        return ::syscall(SYS_pwrite64, file, bytes, count, at);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite64(int file, void const* bytes, size_t count, off64_t at) noexcept {
    return pwrite(file, bytes, count, at);
}

ssize_t pwritev(int file, iovec const* pieces, int count, off_t at) noexcept {
    off_t end = at;
    for (int i = 0; i < count; ++i)
        end += static_cast<off_t>(pieces[i].iov_len);
    if (!has_no_room(file, end)) return ::syscall(SYS_pwritev, file, pieces, count, at, 0);
    errno = ENOSPC;
    return -1;
}

int posix_fallocate(int file, off_t at, off_t count) noexcept {
    if (has_no_room(file, at + count)) return ENOSPC;
    return ::syscall(SYS_fallocate, file, 0, at, count) == 0 ? 0 : errno;
}

// MariaDB 10.11.19 and later.
int fallocate(int file, int mode, off_t at, off_t count) noexcept {
    if (!has_no_room(file, at + count))
        return static_cast<int>(::syscall(SYS_fallocate, file, mode, at, count));
    errno = ENOSPC;
    return -1;
}

int fallocate64(int file, int mode, off64_t at, off64_t count) noexcept {
    return fallocate(file, mode, at, count);
}
}
