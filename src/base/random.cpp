#include "base/random.hpp"

#include <random>

namespace holdfast::base {

std::uint64_t entropy() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) ^ device();
}

}  // namespace holdfast::base
