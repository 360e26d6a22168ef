// Errors of callers that have more than one place.
#pragma once

#include <string>

#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

/// A call that cannot say "busy" ends in this when its retry policy gives up. `what` is a quoted name, or several.
[[nodiscard]] inline base::error policy_ended(std::string const& what) {
    return {errc::timed_out, "the retry policy ended the wait for " + what};
}

[[nodiscard]] inline base::error not_held_by_thread(std::string const& name) {
    return {errc::not_owner, "this thread does not hold '" + name + "'"};
}

[[nodiscard]] inline base::error no_limit() {
    return {errc::bad_option, "the limit of a semaphore must be at least 1"};
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
