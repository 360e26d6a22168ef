// Errors and reasons of the engine that have more than one place.
#pragma once

#include <string>

#include "base/error.hpp"

namespace holdfast::core {

/// What a call ends in when it comes after `close`.
[[nodiscard]] inline base::error closed_client() { return base::error{errc::closed}; }

/// `store`: as its users know it.
[[nodiscard]] inline base::error silent_store(std::string const& store) {
    return {errc::store_unavailable,
            "the store" + (store.empty() ? "" : " " + store) + " did not answer in time"};
}

/// An answer of a kind that does not belong to the request.
[[nodiscard]] inline base::error senseless_answer() {
    return {errc::store_unavailable, "the store's answer makes no sense"};
}

/// For `detect_deadlock` where claims do not wait at the store.
[[nodiscard]] inline base::error no_deadlock_search() {
    return {errc::unsupported,
            "this store does not know who waits, so detect_deadlock would find nothing: leave the "
            "option out"};
}

/// Why a hold is lost when the store gives no reason.
inline constexpr char const* hold_gone = "the store no longer has the hold";

}  // namespace holdfast::core
