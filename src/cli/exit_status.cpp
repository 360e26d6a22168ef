#include "exit_status.hpp"

#include <holdfast/error.hpp>

namespace holdfast::cli {

int status_of(std::error_code const& code) noexcept {
    if (code.category() != error_category()) return exit_status::system;
    switch (static_cast<errc>(code.value())) {
    // What the user wrote does not fit the store, or what others agreed on there.
    case errc::bad_url:
    case errc::bad_name:
    case errc::bad_option:
    case errc::kind_mismatch:
    case errc::limit_mismatch:
    case errc::unsupported: return exit_status::usage;
    // For a script it is the same whether nobody answers the door or nobody opens it.
    case errc::store_unavailable:
    case errc::access_denied: return exit_status::unavailable;
    case errc::timed_out:
    case errc::would_deadlock: return exit_status::not_acquired;
    // What one had reached is gone, by the doing of others: not a matter of waiting longer.
    case errc::lost:
    case errc::not_owner:
    case errc::broken_barrier: return exit_status::lost;
    case errc::closed: break;
    }
    return exit_status::internal;
}

}  // namespace holdfast::cli
