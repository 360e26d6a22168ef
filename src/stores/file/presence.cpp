#include "stores/file/presence.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace holdfast::stores::file {

namespace {

struct flock byte_of(std::int64_t slot, short type = F_WRLCK) noexcept {
    struct flock out {};  // l_pid must be 0 for locks of open files
    out.l_type = type;
    out.l_whence = SEEK_SET;
    out.l_start = slot;
    out.l_len = 1;
    return out;
}

}  // namespace

presence::presence(base::descriptor file) : file_{std::move(file)} {
    struct stat status {};
    if (::fstat(file_.get(), &status) == 0) {
        side_ = static_cast<std::int64_t>(status.st_ino);
        device_ = status.st_dev;
    }
}

bool presence::take(std::int64_t slot) noexcept {
    auto byte = byte_of(slot);
    if (::fcntl(file_.get(), F_OFD_SETLK, &byte) != 0) return false;
    slot_ = slot;
    return true;
}

bool presence::vacant(std::int64_t slot) const noexcept {
    auto byte = byte_of(slot);
    return file_ && ::fcntl(file_.get(), F_OFD_GETLK, &byte) == 0 && byte.l_type == F_UNLCK;
}

bool presence::occupied(std::int64_t slot) const noexcept {
    auto byte = byte_of(slot);
    return file_ && ::fcntl(file_.get(), F_OFD_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
}

base::descriptor presence::share() const noexcept {
    return base::descriptor{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)};
}

void presence::give_up() noexcept {
    if (slot_ < 0) return;
    auto byte = byte_of(slot_, F_UNLCK);
    ::fcntl(file_.get(), F_OFD_SETLK, &byte);
    slot_ = -1;
}

bool presence::is_at(char const* path) const noexcept {
    struct stat status {};
    return ::stat(path, &status) == 0 && static_cast<std::int64_t>(status.st_ino) == side_ &&
           status.st_dev == device_;
}

}  // namespace holdfast::stores::file
