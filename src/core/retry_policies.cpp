#include "core/retry_policies.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {
namespace retry {

namespace {

using std::chrono::milliseconds;

struct never_again {
    std::optional<milliseconds> operator()(attempt const&) const { return std::nullopt; }
};

void require_delay(milliseconds delay, char const* what) {
    if (delay < milliseconds::zero())
        base::raise(errc::bad_option,
                    std::string{what} + " of a retry policy must not be negative");
}

}  // namespace

policy fixed(milliseconds delay, int max) {
    require_delay(delay, "the delay");
    if (max < 1) base::raise(errc::bad_option, "a retry policy must allow at least one attempt");
    return [delay, max](attempt const& so_far) {
        return so_far.number < max ? std::optional{delay} : std::nullopt;
    };
}

policy exponential(milliseconds first, milliseconds cap) {
    require_delay(first, "the first delay");
    require_delay(cap - first, "the cap minus the first delay");
    return [first, cap](attempt const& so_far) -> std::optional<milliseconds> {
        auto const doublings = std::clamp(so_far.number - 1, 0, 30);
        return first.count() > (cap.count() >> doublings)
                   ? cap
                   : milliseconds{first.count() << doublings};
    };
}

policy never() { return never_again{}; }

}  // namespace retry
}  // namespace v1

namespace core {

bool is_never(retry::policy const& policy) noexcept {
    return policy.target<retry::never_again>() != nullptr;
}

}  // namespace core
}  // namespace holdfast
