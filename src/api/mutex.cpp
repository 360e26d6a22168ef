#include <utility>

#include <holdfast/mutex.hpp>

#include "api/lock_handle.hpp"
#include "base/error.hpp"

namespace holdfast {
inline namespace v1 {

namespace {

using core::verdict;
using detail::no_timeout;

// `lock` and `acquire` without a stop token have no way to say "busy": a retry policy ended them.
[[noreturn]] void policy_ended(std::string const& name) {
    base::raise(errc::timed_out, "the retry policy ended the wait for '" + name + "'");
}

std::shared_ptr<core::grant> required(std::shared_ptr<core::grant> grant, std::string const& name) {
    if (grant == nullptr) base::raise(errc::not_owner, "this thread does not hold '" + name + "'");
    return grant;
}

std::optional<lease> try_acquire(detail::lock_handle& handle, bool wait,
                                 std::chrono::nanoseconds timeout, std::stop_token stop) {
    lease out;
    if (handle.acquire(out, wait, timeout, std::move(stop)) != verdict::granted)
        return std::nullopt;
    return out;
}

}  // namespace

basic_mutex::basic_mutex(std::shared_ptr<detail::lock_handle> handle) noexcept
    : handle_{std::move(handle)} {}

basic_mutex::~basic_mutex() = default;

void basic_mutex::lock() {
    if (handle_->lock(true, no_timeout, {}).outcome != verdict::granted) policy_ended(name());
}

bool basic_mutex::lock(std::stop_token stop) {
    auto const outcome = handle_->lock(true, no_timeout, std::move(stop)).outcome;
    if (outcome == verdict::busy) policy_ended(name());
    return outcome == verdict::granted;
}

bool basic_mutex::try_lock() {
    return handle_->lock(false, no_timeout, {}).outcome == verdict::granted;
}

bool basic_mutex::try_lock_within(std::chrono::nanoseconds timeout) {
    return handle_->lock(true, timeout, {}).outcome == verdict::granted;
}

void basic_mutex::unlock() { handle_->unlock(); }

lease basic_mutex::acquire() {
    lease out;
    if (handle_->acquire(out, true, no_timeout, {}) != verdict::granted) policy_ended(name());
    return out;
}

std::optional<lease> basic_mutex::acquire(std::stop_token stop) {
    lease out;
    auto const outcome = handle_->acquire(out, true, no_timeout, std::move(stop));
    if (outcome == verdict::busy) policy_ended(name());
    if (outcome != verdict::granted) return std::nullopt;
    return out;
}

std::optional<lease> basic_mutex::try_acquire() {
    return holdfast::try_acquire(*handle_, false, no_timeout, {});
}

std::optional<lease> basic_mutex::try_acquire_within(std::chrono::nanoseconds timeout,
                                                     std::stop_token stop) {
    return holdfast::try_acquire(*handle_, true, timeout, std::move(stop));
}

std::uint64_t basic_mutex::token() const {
    return required(handle_->held_by_this_thread(), name())->token();
}

std::stop_token basic_mutex::lost() const {
    return required(handle_->held_by_this_thread(), name())->lost();
}

bool basic_mutex::owns() const noexcept {
    if (!handle_->client()->at_home()) return false;
    auto const grant = handle_->held_by_this_thread();
    return grant != nullptr && grant->state(base::boot_clock::now()) != lease_state::lost;
}

std::string const& basic_mutex::name() const noexcept { return handle_->name(); }

std::shared_ptr<detail::lock_handle> const& basic_mutex::shared_handle() const noexcept {
    return handle_;
}

mutex::mutex(client const& client, std::string_view name, lock_options options)
    : basic_mutex{std::make_shared<detail::lock_handle>(client.shared_state(), name,
                                                        std::move(options), false)} {}

recursive_mutex::recursive_mutex(client const& client, std::string_view name, lock_options options)
    : basic_mutex{std::make_shared<detail::lock_handle>(client.shared_state(), name,
                                                        std::move(options), true)} {}

}  // namespace v1
}  // namespace holdfast
