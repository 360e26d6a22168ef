#include <utility>

#include <holdfast/mutex.hpp>

#include "api/lock_handle.hpp"
#include "api/refusals.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {

namespace {

using detail::flavour;
using detail::no_timeout;

std::shared_ptr<core::hold_state> hold_of_this_thread(detail::lock_handle const& handle) {
    handle.client()->require_usable();
    auto held = handle.held_by_this_thread();
    if (held == nullptr) detail::not_held_by_thread(handle.name()).raise();
    return held;
}

}  // namespace

basic_mutex::basic_mutex(std::shared_ptr<detail::lock_handle> handle) noexcept
    : handle_{std::move(handle)} {}

basic_mutex::~basic_mutex() = default;

void basic_mutex::lock() { handle_->lock(); }
bool basic_mutex::lock(std::stop_token stop) { return handle_->lock(std::move(stop)); }
bool basic_mutex::try_lock() { return handle_->try_lock(false, no_timeout); }
void basic_mutex::unlock() { handle_->unlock(); }

bool basic_mutex::try_lock_within(std::chrono::nanoseconds timeout) {
    return handle_->try_lock(true, timeout);
}

lease basic_mutex::acquire() { return handle_->acquire(); }

std::optional<lease> basic_mutex::acquire(std::stop_token stop) {
    return handle_->acquire(std::move(stop));
}

std::optional<lease> basic_mutex::try_acquire() {
    return handle_->try_acquire(false, no_timeout, {});
}

std::optional<lease> basic_mutex::try_acquire_within(std::chrono::nanoseconds timeout,
                                                     std::stop_token stop) {
    return handle_->try_acquire(true, timeout, std::move(stop));
}

std::uint64_t basic_mutex::token() const { return hold_of_this_thread(*handle_)->token(); }

std::stop_token basic_mutex::lost() const { return hold_of_this_thread(*handle_)->lost(); }

bool basic_mutex::owns() const noexcept {
    if (!handle_->client()->at_home()) return false;
    auto const held = handle_->held_by_this_thread();
    return held != nullptr && held->state(base::boot_clock::now()) != lease_state::lost;
}

std::string const& basic_mutex::name() const noexcept { return handle_->name(); }

std::shared_ptr<detail::lock_handle> const& basic_mutex::shared_handle() const noexcept {
    return handle_;
}

mutex::mutex(client const& client, std::string_view name, lock_options options)
    : basic_mutex{std::make_shared<detail::lock_handle>(detail::access::state(client), name,
                                                        std::move(options), flavour::plain)} {}

recursive_mutex::recursive_mutex(client const& client, std::string_view name, lock_options options)
    : basic_mutex{std::make_shared<detail::lock_handle>(detail::access::state(client), name,
                                                        std::move(options), flavour::recursive)} {}

}  // namespace v1
}  // namespace holdfast
