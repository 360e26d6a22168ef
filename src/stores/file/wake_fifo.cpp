#include "stores/file/wake_fifo.hpp"

#include <array>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::stores::file {

namespace {

// Opened for both directions a FIFO always has a reader, so that a write raises no SIGPIPE.
base::descriptor open_fifo(int directory, std::string const& name) noexcept {
    base::descriptor out{
        ::openat(directory, name.c_str(), O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)};
    struct stat status {};
    if (out && (::fstat(out.get(), &status) != 0 || !S_ISFIFO(status.st_mode))) out.reset();
    return out;
}

}  // namespace

wake_fifo::wake_fifo(location const& where)
    : where_{where}, directory_{where.companion_directory("-wake")} {}

bool wake_fifo::hang(std::int64_t slot) {
    auto const name = std::to_string(slot);
    // The slot's former client left its own, of which only the rights may be wrong for us.
    own_ = open_fifo(directory_.get(), name);
    if (own_ && where_.has_adopted(own_.get())) return true;
    own_.reset();
    ::unlinkat(directory_.get(), name.c_str(), 0);
    if (::mkfifoat(directory_.get(), name.c_str(), 0600) != 0) return false;
    own_ = open_fifo(directory_.get(), name);
    if (own_) where_.adopt(own_.get(), where_.mode());
    return static_cast<bool>(own_);
}

void wake_fifo::silence() noexcept {
    std::array<char, 512> rings;
    while (own_ && ::read(own_.get(), rings.data(), rings.size()) > 0) {}
}

void wake_fifo::ring(std::int64_t slot) const noexcept {
    auto const fifo = open_fifo(directory_.get(), std::to_string(slot));
    if (!fifo) return;
    constexpr char any = '!';
    // A full FIFO has enough rings in it.
    [[maybe_unused]] auto const written = ::write(fifo.get(), &any, 1);
}

}  // namespace holdfast::stores::file
