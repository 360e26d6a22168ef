#include <utility>

#include <holdfast/latch.hpp>

#include "api/lock_handle.hpp"
#include "api/synchronizers.hpp"
#include "core/task_context.hpp"

namespace holdfast {
inline namespace v1 {

using detail::no_timeout;

namespace detail {

latch_handle::latch_handle(std::shared_ptr<session> whose, std::string_view wanted,
                           std::optional<std::uint32_t> count)
    : client{std::move(whose)},
      name{checked_name(wanted)},
      terms_{std::make_shared<core::latch_terms const>(core::latch_terms{name, count})} {}

latch_handle::~latch_handle() {
    if (client->at_home()) client->loop().unwatch(terms_->key());
}

void latch_handle::set_count(std::uint32_t count) {
    base::lock_guard const guard{mutex_};
    if (terms_->count)
        terms_ = std::make_shared<core::latch_terms const>(core::latch_terms{name, count});
}

}  // namespace detail

latch::latch(client const& client, std::string_view name, std::uint32_t count)
    : handle_{std::make_shared<detail::latch_handle>(detail::access::state(client), name, count)} {}

latch::latch(client const& client, std::string_view name)
    : handle_{std::make_shared<detail::latch_handle>(detail::access::state(client), name,
                                                     std::nullopt)} {}

latch::~latch() = default;

void latch::count_down(std::uint32_t n) {
    std::uint32_t left = 0;
    handle_->client->run(
        [&](core::task_context& on) {
            return core::count_down_latch(on, handle_->terms(), n, left);
        },
        no_timeout, {});
}

void latch::reset(std::uint32_t count) {
    handle_->client->run(
        [&](core::task_context& on) { return core::reset_latch(on, handle_->terms(), count); },
        no_timeout, {});
    handle_->set_count(count);
}

void latch::remove() {
    handle_->client->run(
        [&](core::task_context& on) { return core::delete_latch(on, handle_->terms()); },
        no_timeout, {});
}

std::uint32_t latch::count() {
    std::uint32_t left = 0;
    handle_->client->run(
        [&](core::task_context& on) {
            return core::count_down_latch(on, handle_->terms(), 0, left);
        },
        no_timeout, {});
    return left;
}

bool latch::try_wait() {
    bool finished = false;
    handle_->client->run(
        [&](core::task_context& on) {
            return core::wait_for_latch(on, handle_->terms(), finished, false);
        },
        no_timeout, {});
    return finished;
}

void latch::wait() { (void)wait_within(no_timeout, {}); }

bool latch::wait(std::stop_token stop) { return wait_within(no_timeout, std::move(stop)); }

bool latch::wait_within(std::chrono::nanoseconds timeout, std::stop_token stop) {
    if (timeout == std::chrono::nanoseconds::zero()) return try_wait();
    bool finished = false;
    handle_->client->run(
        [&](core::task_context& on) {
            return core::wait_for_latch(on, handle_->terms(), finished);
        },
        timeout, stop);
    return finished;
}

void latch::arrive_and_wait(std::uint32_t n) {
    std::uint32_t left = 0;
    std::uint64_t round = 0;
    handle_->client->run(
        [&](core::task_context& on) {
            return core::count_down_latch(on, handle_->terms(), n, left, &round);
        },
        no_timeout, {});
    // Another round may have begun meanwhile, which is not the one that it counted in.
    bool finished = false;
    handle_->client->run(
        [&](core::task_context& on) {
            return core::wait_for_latch(on, handle_->terms(), finished, true, round);
        },
        no_timeout, {});
}

std::string const& latch::name() const noexcept { return handle_->name; }

std::shared_ptr<detail::latch_handle> const& latch::shared_handle() const noexcept {
    return handle_;
}

}  // namespace v1
}  // namespace holdfast
