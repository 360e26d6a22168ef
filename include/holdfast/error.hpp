// Errors of holdfast: one enumeration, one category, carried by std::system_error.
#pragma once

#include <string>
#include <system_error>
#include <type_traits>

#include <holdfast/export.hpp>

namespace holdfast {
inline namespace v1 {

/// What went wrong, for code that reacts to it. An enumerator exists only where a caller can react
/// differently. The text of the std::system_error keeps the store's own words.
enum class errc {
    not_owner = 1,  ///< the caller does not hold what it tried to give back
    lost,  ///< the hold ended before the caller gave it back, or the latch before it opened
    store_unavailable,  ///< the store did not answer within the caller's deadline or patience
    timed_out,          ///< the retry policy ended the wait of a call that cannot say "busy"
    access_denied,      ///< the store refused our credentials or rights
    kind_mismatch,      ///< the name lives as another kind of synchronizer
    limit_mismatch,     ///< another client declared another limit, count or number of parties
    broken_barrier,     ///< a party died, timed out or reset the barrier
    bad_url,            ///< the store URL cannot be understood
    bad_name,           ///< the name is not 1 to 512 bytes of UTF-8 without control characters
    bad_option,         ///< an option is out of its range
    would_deadlock,     ///< waiting could never end: the caller waits for itself or for a cycle
    unsupported,        ///< this store or this build cannot do that
    closed,             ///< the client was closed, or belongs to the process that forked this one
};

/// The category of `errc`. Thread-safe; lives for ever.
HOLDFAST_EXPORT std::error_category const& error_category() noexcept;

HOLDFAST_EXPORT std::error_code make_error_code(errc code) noexcept;

}  // namespace v1
}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
