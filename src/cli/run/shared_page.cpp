#include "run/shared_page.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include <sys/mman.h>

namespace holdfast::cli {

shared_memory::shared_memory() {
    void* const memory = ::mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::system_error{errno, std::generic_category(), "cannot share memory"};
    page_ = new (memory) shared_page;
}

shared_memory::~shared_memory() { ::munmap(page_, sizeof(shared_page)); }

}  // namespace holdfast::cli
