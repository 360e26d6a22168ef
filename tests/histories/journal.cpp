#include "histories/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace holdfast::histories {

journal::journal(std::filesystem::path const& path, std::size_t room)
    : room_{room}, size_{sizeof(header) + room * sizeof(slot)} {
    int const file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    // Sparse: only what is written takes room on the disk.
    bool const made = file >= 0 && ::ftruncate(file, static_cast<off_t>(size_)) == 0;
    if (made) memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    auto const error = errno;
    if (file >= 0) ::close(file);
    if (!made || memory_ == MAP_FAILED)
        throw std::system_error{error, std::generic_category(), path.string()};
}

journal::~journal() { ::munmap(memory_, size_); }

void journal::append(event const& one) {
    auto const at = head().next.fetch_add(1);
    if (at >= room_) throw std::runtime_error{"the journal is full; let the run be shorter"};
    auto& place = slots()[at];
    place.content = one;
    place.whole.store(1, std::memory_order_release);
}

std::vector<event> journal::read() const {
    std::vector<event> out;
    auto const end = std::min<std::uint64_t>(head().next.load(), room_);
    for (std::uint64_t at = 0; at < end; ++at)
        if (slots()[at].whole.load(std::memory_order_acquire) != 0)
            out.push_back(slots()[at].content);
    return out;
}

}  // namespace holdfast::histories
