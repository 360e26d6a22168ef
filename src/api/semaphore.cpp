#include <algorithm>
#include <utility>

#include <holdfast/semaphore.hpp>

#include "api/hold.hpp"
#include "api/permit_pool.hpp"

namespace holdfast {
inline namespace v1 {

using detail::no_timeout;

namespace {

bool kept(detail::permit_pool& pool, std::uint32_t n, std::shared_ptr<core::hold_state> held) {
    if (held == nullptr) return false;
    pool.keep(std::move(held), n);
    return true;
}

std::optional<lease> leased(detail::permit_pool& pool, std::shared_ptr<core::hold_state> held) {
    if (held == nullptr) return std::nullopt;
    return detail::access::make_lease(
        std::make_shared<detail::single_hold>(pool.client(), std::move(held)));
}

}  // namespace

semaphore::semaphore(client const& client, std::string_view name, std::uint32_t limit,
                     lock_options options)
    : pool_{std::make_shared<detail::permit_pool>(detail::access::state(client), name, limit,
                                                  std::move(options))} {}

semaphore::~semaphore() = default;

void semaphore::acquire(std::uint32_t n) { kept(*pool_, n, pool_->get(n, true, no_timeout, {})); }

bool semaphore::acquire(std::uint32_t n, std::stop_token stop) {
    return kept(*pool_, n, pool_->get(n, true, no_timeout, stop));
}

bool semaphore::try_acquire(std::uint32_t n) {
    return kept(*pool_, n, pool_->get(n, false, no_timeout, {}));
}

bool semaphore::try_acquire_within(std::chrono::nanoseconds timeout, std::uint32_t n,
                                   std::stop_token stop) {
    return kept(*pool_, n, pool_->get(n, true, timeout, stop));
}

void semaphore::release(std::uint32_t n) { pool_->release(n); }

lease semaphore::acquire_lease(std::uint32_t n) {
    return std::move(*leased(*pool_, pool_->get(n, true, no_timeout, {})));
}

std::optional<lease> semaphore::acquire_lease(std::uint32_t n, std::stop_token stop) {
    return leased(*pool_, pool_->get(n, true, no_timeout, stop));
}

std::optional<lease> semaphore::try_acquire_lease(std::uint32_t n) {
    return leased(*pool_, pool_->get(n, false, no_timeout, {}));
}

std::optional<lease> semaphore::try_acquire_lease_within(std::chrono::nanoseconds timeout,
                                                         std::uint32_t n, std::stop_token stop) {
    return leased(*pool_, pool_->get(n, true, timeout, stop));
}

std::stop_token semaphore::lost() const { return pool_->lost(); }

std::uint32_t semaphore::available() {
    auto const permits = pool_->adjust(std::nullopt);
    return permits.current - std::min(permits.current, permits.used);
}

std::uint32_t semaphore::limit() { return pool_->adjust(std::nullopt).current; }

void semaphore::set_limit(std::uint32_t limit) { (void)pool_->adjust(limit); }

std::string const& semaphore::name() const noexcept { return pool_->name(); }

std::shared_ptr<detail::permit_pool> const& semaphore::pool() const noexcept { return pool_; }

}  // namespace v1
}  // namespace holdfast
