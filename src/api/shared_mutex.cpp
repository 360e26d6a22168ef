#include <utility>

#include <holdfast/shared_mutex.hpp>

#include "api/lock_handle.hpp"

namespace holdfast {
inline namespace v1 {

using detail::flavour;
using detail::no_timeout;

shared_mutex::shared_mutex(client const& client, std::string_view name, lock_options options)
    : basic_mutex{std::make_shared<detail::lock_handle>(detail::access::state(client), name,
                                                        options, flavour::plain)},
      readers_{std::make_shared<detail::lock_handle>(detail::access::state(client), name,
                                                     std::move(options), flavour::shared)} {}

shared_mutex::~shared_mutex() = default;

void shared_mutex::lock_shared() { readers_->lock(); }
bool shared_mutex::lock_shared(std::stop_token stop) { return readers_->lock(std::move(stop)); }
bool shared_mutex::try_lock_shared() { return readers_->try_lock(false, no_timeout); }
void shared_mutex::unlock_shared() { readers_->unlock(); }

bool shared_mutex::try_lock_shared_within(std::chrono::nanoseconds timeout) {
    return readers_->try_lock(true, timeout);
}

lease shared_mutex::acquire_shared() { return readers_->acquire(); }

std::optional<lease> shared_mutex::acquire_shared(std::stop_token stop) {
    return readers_->acquire(std::move(stop));
}

std::optional<lease> shared_mutex::try_acquire_shared() {
    return readers_->try_acquire(false, no_timeout, {});
}

std::optional<lease> shared_mutex::try_acquire_shared_within(std::chrono::nanoseconds timeout,
                                                             std::stop_token stop) {
    return readers_->try_acquire(true, timeout, std::move(stop));
}

void shared_mutex::downgrade(lease& held) { readers_->downgrade(held); }

std::shared_ptr<detail::lock_handle> const& shared_mutex::shared_side() const noexcept {
    return readers_;
}

}  // namespace v1
}  // namespace holdfast
