#include <holdfast/info.hpp>

namespace holdfast {
inline namespace v1 {

char const* to_string(lock_kind kind) noexcept {
    constexpr char const* names[] = {"lock",    "semaphore", "latch",
                                     "barrier", "condition", "election"};
    return names[static_cast<int>(kind)];
}

char const* to_string(claim_mode mode) noexcept {
    constexpr char const* names[] = {"exclusive", "shared", "permits"};
    return names[static_cast<int>(mode)];
}

}  // namespace v1
}  // namespace holdfast
