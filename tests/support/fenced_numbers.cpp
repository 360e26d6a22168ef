#include "support/fenced_numbers.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace holdfast::support {

class fenced_number::turn {
public:
    explicit turn(fenced_number& of) : of_{of} { ::pthread_mutex_lock(&of_.mutex_); }
    ~turn() { ::pthread_mutex_unlock(&of_.mutex_); }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;

private:
    fenced_number& of_;
};

fenced_number::fenced_number() {
    pthread_mutexattr_t shared;
    ::pthread_mutexattr_init(&shared);
    ::pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    ::pthread_mutex_init(&mutex_, &shared);
    ::pthread_mutexattr_destroy(&shared);
}

std::uint64_t fenced_number::read(std::uint64_t token, std::size_t whose) {
    turn const mine{*this};
    let_in(token, whose);
    return value_;
}

bool fenced_number::let_in(std::uint64_t token, std::size_t whose) {
    if (token < highest_ || (token == highest_ && whose != holder_)) return false;
    highest_ = token;
    holder_ = whose;
    return true;
}

bool fenced_number::write(std::uint64_t token, std::size_t whose, std::uint64_t value) {
    turn const mine{*this};
    if (!let_in(token, whose)) return false;
    value_ = value;
    ++written_;
    return true;
}

bool fenced_number::is_right() {
    turn const mine{*this};
    return value_ == written_;
}

std::uint64_t fenced_number::value() {
    turn const mine{*this};
    return value_;
}

fenced_numbers::fenced_numbers(std::filesystem::path const& file, how wanted) {
    auto const fail = [&] {
        throw std::system_error{errno, std::generic_category(), file.string()};
    };
    int const descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) fail();
    if (wanted == how::make && ::ftruncate(descriptor, sizeof(content)) != 0) fail();
    auto* const memory =
        ::mmap(nullptr, sizeof(content), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (memory == MAP_FAILED) fail();
    content_ = wanted == how::make ? new (memory) content : static_cast<content*>(memory);
}

fenced_numbers::~fenced_numbers() { ::munmap(content_, sizeof(content)); }

}  // namespace holdfast::support
