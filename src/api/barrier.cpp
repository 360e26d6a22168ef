#include <utility>

#include <holdfast/barrier.hpp>

#include "api/lock_handle.hpp"
#include "api/synchronizers.hpp"
#include "base/error.hpp"
#include "core/task_context.hpp"

namespace holdfast {
inline namespace v1 {

using detail::no_timeout;

namespace detail {

namespace {

core::barrier_terms_ptr barrier_terms_of(session const& client, std::string_view name,
                                         std::uint32_t parties) {
    constexpr std::uint32_t most = 1U << 20;
    if (parties == 0 || parties > most)
        base::raise(errc::bad_option,
                    "a barrier has 1 to 1048576 parties, not " + std::to_string(parties));
    seam::claim_spec spec{.name = checked_name(name)};
    spec.kind = lock_kind::barrier;
    spec.mode = claim_mode::shared;
    auto presence = std::make_shared<core::terms const>(
        core::make_terms(std::move(spec), client.with_defaults({})));
    return std::make_shared<core::barrier_terms const>(
        core::barrier_terms{parties, std::move(presence)});
}

}  // namespace

barrier_handle::barrier_handle(std::shared_ptr<session> whose, std::string_view name,
                               std::uint32_t parties)
    : client{std::move(whose)}, terms{barrier_terms_of(*client, name, parties)} {}

barrier_handle::~barrier_handle() {
    if (client->at_home()) client->loop().unwatch(terms->key());
}

}  // namespace detail

barrier::barrier(client const& client, std::string_view name, std::uint32_t parties)
    : handle_{
          std::make_shared<detail::barrier_handle>(detail::access::state(client), name, parties)} {}

barrier::~barrier() = default;

std::uint64_t barrier::arrive_and_wait() { return *arrive_within(no_timeout); }

std::optional<std::uint64_t> barrier::arrive_within(std::chrono::nanoseconds timeout) {
    std::optional<std::uint64_t> generation;
    bool const wait = timeout > std::chrono::nanoseconds::zero();
    handle_->client->run(
        [&](core::task_context& on) {
            return core::arrive_at_barrier(on, handle_->terms, generation, wait);
        },
        wait ? timeout : no_timeout, {});
    return generation;
}

void barrier::reset() {
    handle_->client->run(
        [&](core::task_context& on) { return core::reset_barrier(on, handle_->terms); }, no_timeout,
        {});
}

void barrier::remove() {
    handle_->client->run(
        [&](core::task_context& on) { return core::delete_barrier(on, handle_->terms); },
        no_timeout, {});
}

std::string const& barrier::name() const noexcept { return handle_->terms->name(); }

std::shared_ptr<detail::barrier_handle> const& barrier::shared_handle() const noexcept {
    return handle_;
}

}  // namespace v1
}  // namespace holdfast
