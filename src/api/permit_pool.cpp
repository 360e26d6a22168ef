#include "api/permit_pool.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "api/hold.hpp"
#include "api/refusals.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

namespace {

core::terms_ptr make_permit_terms(session const& client, std::string_view name, std::uint32_t n,
                                  std::uint32_t limit, lock_options const& options) {
    if (limit == 0) no_limit().raise();
    seam::claim_spec spec{.name = checked_name(name)};
    spec.kind = lock_kind::semaphore;
    spec.mode = claim_mode::permits;
    spec.permits = n;
    spec.limit = limit;
    return std::make_shared<core::terms const>(
        core::make_terms(std::move(spec), client.with_defaults(options), client.longest_lease()));
}

}  // namespace

permit_pool::permit_pool(std::shared_ptr<session> client, std::string_view name,
                         std::uint32_t limit, lock_options options)
    : client_{std::move(client)},
      name_{name},
      limit_{limit},
      options_{std::move(options)},
      single_{make_permit_terms(*client_, name, 1, limit, options_)},
      holders_{client_->permits_of(name)} {}

core::terms_ptr permit_pool::terms_for(std::uint32_t n) const {
    if (n == 0 || n > limit_)
        base::raise(errc::bad_option, "the semaphore '" + name_ + "' has " +
                                          std::to_string(limit_) + " permits; " +
                                          std::to_string(n) + " cannot be had at once");
    return n == 1 ? single_ : make_permit_terms(*client_, name_, n, limit_, options_);
}

std::shared_ptr<core::wait_queue> permit_pool::queue(std::uint32_t n) const {
    return std::make_shared<core::wait_queue>(terms_for(n));
}

std::shared_ptr<core::hold_state> permit_pool::get(std::uint32_t n, bool wait,
                                                   std::chrono::nanoseconds timeout,
                                                   std::stop_token const& stop) {
    auto const got = acquire_on(*client_, queue(n), wait, timeout, stop);
    if (got.outcome == core::verdict::busy && wait && timeout == no_timeout)
        policy_ended("'" + name_ + "'").raise();
    return got.held;
}

void permit_pool::keep(std::shared_ptr<core::hold_state> held, std::uint32_t n) {
    auto const announce = [holder_table = std::weak_ptr{holders_}] {
        auto const holders = holder_table.lock();
        if (holders == nullptr) return;
        auto all = [&] {
            base::lock_guard const guard{holders->mutex};
            return holders->lost;
        }();
        all.request_stop();
    };
    // Made before the lock is taken: of a hold that is lost already it calls at once.
    using callback = std::stop_callback<std::function<void()>>;
    auto on_loss = std::make_unique<callback>(held->lost(), announce);
    base::lock_guard const guard{holders_->mutex};
    holders_->held.push_back({std::move(held), n, std::move(on_loss)});
}

void permit_pool::release(std::uint32_t n) {
    if (!client_->at_home()) return;
    std::list<permit_table::batch> ended;
    std::shared_ptr<core::hold_state> shrunk;
    std::uint32_t left = 0;
    {
        base::lock_guard const guard{holders_->mutex};
        auto& held = holders_->held;
        auto const all =
            std::accumulate(held.begin(), held.end(), std::uint64_t{0},
                            [](auto sum, auto const& each) { return sum + each.permits; });
        if (n == 0 || n > all)
            base::raise(errc::not_owner, "this client holds " + std::to_string(all) +
                                             " permits of '" + name_ + "', not " +
                                             std::to_string(n));
        for (auto still = n; still > 0;) {
            auto& last = held.back();
            if (last.permits <= still) {
                still -= last.permits;
                ended.splice(ended.end(), held, std::prev(held.end()));
            } else {
                last.permits -= still;
                still = 0;
                shrunk = last.held;
                left = last.permits;
            }
        }
        if (held.empty() && holders_->lost.stop_requested()) holders_->lost = std::stop_source{};
    }
    for (auto const& each : ended)
        client_->loop().release_later(each.held);
    if (shrunk != nullptr) shrink(shrunk, left);
}

// Gives back a part of what was acquired at once. Nobody waits for the answer: unanswered, the rest
// comes back with the whole.
void permit_pool::shrink(std::shared_ptr<core::hold_state> const& held, std::uint32_t to) {
    auto terms = make_permit_terms(*client_, name_, to, limit_, options_);
    if (auto request = client_->loop().weaken(*held, std::move(terms)))
        client_->loop().run_later(std::move(*request), client_->patience());
}

std::stop_token permit_pool::lost() {
    client_->require_usable();
    base::lock_guard const guard{holders_->mutex};
    return holders_->lost.get_token();
}

seam::adjusted permit_pool::adjust(std::optional<std::uint32_t> current) {
    if (current && *current == 0) no_limit().raise();
    auto const answer = client_->ask(seam::adjust{{single_->spec, {}, {}}, current});
    if (auto const* const no = std::get_if<seam::refused>(&answer.body))
        base::raise(
            no->why == seam::refusal::limit_mismatch ? errc::limit_mismatch : errc::kind_mismatch,
            no->text);
    return std::get<seam::adjusted>(answer.body);
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
