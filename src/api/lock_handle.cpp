#include "api/lock_handle.hpp"

#include <algorithm>
#include <utility>

#include "api/hold.hpp"
#include "api/refusals.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace holdfast {
inline namespace v1 {
namespace detail {

namespace {

using std::chrono::nanoseconds;

core::terms terms_of(session const& client, std::string_view name, lock_options options,
                     flavour which) {
    seam::claim_spec spec{.name = checked_name(name)};
    spec.joins = which == flavour::recursive && !options.owner.empty();
    if (which == flavour::shared) spec.mode = claim_mode::shared;
    return core::make_terms(std::move(spec), client.with_defaults(std::move(options)));
}

}  // namespace

std::string checked_name(std::string_view name) {
    if (auto const fault = base::name_fault(name)) base::raise(errc::bad_name, *fault);
    return std::string{name};
}

acquired acquire_on(session& client, std::shared_ptr<core::line> line, bool wait,
                    nanoseconds timeout, std::stop_token const& stop) {
    client.require_usable();
    if (stop.stop_requested()) return {core::verdict::stopped};
    auto& loop = client.loop();
    runtime::waiter self{loop};
    core::acquire_call call{std::move(line), self};
    call.wait = wait && timeout > nanoseconds::zero();
    call.actor = this_thread();
    loop.acquire(call, self, call.wait ? timeout : no_timeout, stop);
    if (call.outcome == core::verdict::failed) call.error.raise();
    return {call.outcome, std::move(call.held)};
}

lock_handle::lock_handle(std::shared_ptr<session> client, std::string_view name,
                         lock_options options, flavour which)
    : client_{std::move(client)},
      recursive_{which == flavour::recursive},
      owner_{recursive_ ? options.owner : std::string{}},
      site_{client_->site_for(checked_name(name))},
      line_{client_->line_for(terms_of(*client_, name, std::move(options), which))},
      fast_{!recursive_ && client_->loop().has_fast_lanes() && line_->on->sharable()} {
    line_->handles.fetch_add(1, std::memory_order_relaxed);
}

lock_handle::~lock_handle() {
    if (!client_->at_home()) return;
    bool const last = line_->handles.fetch_sub(1, std::memory_order_relaxed) == 1;
    if (last && line_->lane != nullptr) client_->loop().abandon_lane(*line_);
    if (site_.use_count() > 1) return;
    auto const name = site_->name;
    site_.reset();
    client_->forget_site(name);
}

std::shared_ptr<core::line> lock_handle::line() const {
    return line_->on->sharable() ? line_ : std::make_shared<core::line>(line_->on);
}

bool lock_handle::is_mine(site::holding const& it) const {
    if (it.mode != mode()) return false;
    return owner_.empty() ? it.thread == this_thread() && it.owner.empty() : it.owner == owner_;
}

acquired lock_handle::get(bool wait, nanoseconds timeout, std::stop_token const& stop) {
    return acquire_on(*client_, line(), wait, timeout, stop);
}

// --- by thread ---------------------------------------------------------------------------------

acquired lock_handle::lock(bool wait, nanoseconds timeout, std::stop_token stop) {
    client_->require_usable();
    if (fast_ && !stop.stop_requested() && lock_fast()) return {core::verdict::granted};
    if (recursive_) {
        if (auto grant = enter_again()) return {core::verdict::granted, std::move(grant)};
    } else if (waits_for_itself()) {
        if (!wait || timeout != no_timeout) return {core::verdict::busy};
        base::raise(errc::would_deadlock, "this thread holds '" + name() + "' already");
    }
    auto out = get(wait, timeout, stop);
    if (out.grant != nullptr) remember(out.grant);
    return out;
}

// In either mode: a second shared hold could wait behind a writer that waits for the first.
bool lock_handle::waits_for_itself() const {
    if (site_->fast_owner.load(std::memory_order_relaxed) == this_thread()) return true;
    std::lock_guard const guard{client_->loop().mutex()};
    auto const now = base::boot_clock::now();
    return std::ranges::any_of(site_->holdings, [&](site::holding const& it) {
        return it.thread == this_thread() && it.owner.empty() &&
               it.grant->state(now) != lease_state::lost;
    });
}

bool lock_handle::lock_fast() {
    auto const me = this_thread();
    if (site_->fast_owner.load(std::memory_order_relaxed) == me) return false;
    using entry = core::fast_lane::entry;
    auto const visit = line_->lane->enter(base::boot_clock::now());
    if (visit.how == entry::stuck) client_->loop().release_lane(*line_, visit.generation);
    if (visit.how != entry::yes) return false;
    site_->fast_line = line_.get();
    site_->fast_slot = visit.where;
    site_->fast_owner.store(me, std::memory_order_relaxed);
    return true;
}

// The hold may have been taken up through another mutex object of this name: the site knows.
bool lock_handle::unlock_fast() {
    if (mode() != claim_mode::exclusive ||
        site_->fast_owner.load(std::memory_order_relaxed) != this_thread())
        return false;
    auto* const through = site_->fast_line;
    auto const generation = site_->fast_slot->generation;
    site_->fast_owner.store({}, std::memory_order_relaxed);  // before the next thread can enter
    if (!through->lane->leave(generation)) client_->loop().release_lane(*through, generation);
    return true;
}

void lock_handle::remember(std::shared_ptr<core::grant> const& grant) {
    std::lock_guard const guard{client_->loop().mutex()};
    site_->holdings.push_back({this_thread(), owner_, mode(), grant});
}

void lock_handle::unlock() {
    if (!client_->at_home() || unlock_fast()) return;
    std::shared_ptr<core::grant> ended;
    {
        std::lock_guard const guard{client_->loop().mutex()};
        auto& all = site_->holdings;
        auto const mine =
            std::find_if(all.rbegin(), all.rend(), [&](auto const& it) { return is_mine(it); });
        if (mine == all.rend()) not_held_by_thread(name()).raise();
        if (--mine->count > 0) return;
        ended = std::move(mine->grant);
        all.erase(std::next(mine).base());
    }
    client_->loop().release_later(ended);
}

std::shared_ptr<core::grant> lock_handle::held_by_this_thread() const {
    if (mode() == claim_mode::exclusive &&
        site_->fast_owner.load(std::memory_order_relaxed) == this_thread())
        return site_->fast_slot->held;
    std::lock_guard const guard{client_->loop().mutex()};
    auto const& all = site_->holdings;
    auto const mine =
        std::find_if(all.rbegin(), all.rend(), [&](auto const& it) { return is_mine(it); });
    return mine == all.rend() ? nullptr : mine->grant;
}

// What this thread holds through the fast lane becomes a hold like all others, that can be counted: an
// attempt on its line has the engine take it out of the lane, and asks nothing of the store.
void lock_handle::leave_lane() {
    if (site_->fast_owner.load(std::memory_order_relaxed) != this_thread()) return;
    auto const through = client_->line_for(*site_->fast_line->on);
    auto const other = acquire_on(*client_, through, false, no_timeout, {});
    // The store had taken it back, and gave it anew: whoever calls acquires for himself.
    if (other.grant != nullptr) client_->loop().release_later(other.grant);
    std::lock_guard const guard{client_->loop().mutex()};
    auto const& slot = *site_->fast_slot;
    site_->holdings.push_back({this_thread(), {}, claim_mode::exclusive, slot.held});
    site_->fast_owner.store({}, std::memory_order_relaxed);
    through->lane->drop(slot.generation);
}

std::shared_ptr<core::grant> lock_handle::enter_again() {
    if (!recursive_) return nullptr;
    if (owner_.empty()) leave_lane();
    std::lock_guard const guard{client_->loop().mutex()};
    auto const now = base::boot_clock::now();
    for (auto& it : site_->holdings) {
        if (!is_mine(it) || it.grant->state(now) == lease_state::lost) continue;
        ++it.count;
        return it.grant;
    }
    return nullptr;
}

// --- by lease ----------------------------------------------------------------------------------

core::verdict lock_handle::acquire(lease& into, bool wait, nanoseconds timeout,
                                   std::stop_token stop) {
    client_->require_usable();
    if (auto grant = enter_again()) {
        into = as_nested_lease(std::move(grant));
        return core::verdict::granted;
    }
    auto got = get(wait, timeout, stop);
    if (got.grant != nullptr) into = as_lease(std::move(got.grant));
    return got.outcome;
}

lease lock_handle::as_nested_lease(std::shared_ptr<core::grant> grant) {
    return detail::access::make_lease(
        std::make_shared<single_hold>(client_, std::move(grant), site_));
}

void lock_handle::require_no_thread() const {
    if (recursive_ && owner_.empty())
        base::raise(
            errc::bad_option,
            "a recursive_mutex counts per thread unless lock_options::owner names the owner; "
            "the asynchronous forms need it");
}

lease lock_handle::as_lease(std::shared_ptr<core::grant> grant) {
    if (recursive_) remember(grant);
    return detail::access::make_lease(
        std::make_shared<single_hold>(client_, std::move(grant), recursive_ ? site_ : nullptr));
}

void lock_handle::downgrade(lease& held) {
    client_->require_usable();
    auto* const state =
        detail::access::state(held) ? detail::access::state(held)->single() : nullptr;
    if (state == nullptr || &state->client() != client_.get() || held.name() != name())
        base::raise(errc::not_owner, "this lease does not hold '" + name() + "' of this client");
    auto const request = client_->loop().weaken(state->grant(), line_->on);
    auto const answer = request ? client_->ask(*request).body : seam::reply_body{seam::refused{}};
    if (!std::holds_alternative<seam::converted>(answer))
        base::raise(errc::lost, "the hold of '" + name() + "' has ended");
}

// --- what callers see --------------------------------------------------------------------------

// `lock` and `acquire` without a deadline have no way to say "busy": a retry policy ended them.
void lock_handle::policy_ended() const { detail::policy_ended("'" + name() + "'").raise(); }

void lock_handle::lock() {
    if (lock(true, no_timeout, {}).outcome != core::verdict::granted) policy_ended();
}

bool lock_handle::lock(std::stop_token stop) {
    auto const outcome = lock(true, no_timeout, std::move(stop)).outcome;
    if (outcome == core::verdict::busy) policy_ended();
    return outcome == core::verdict::granted;
}

bool lock_handle::try_lock(bool wait, nanoseconds timeout) {
    return lock(wait, timeout, {}).outcome == core::verdict::granted;
}

lease lock_handle::acquire() {
    lease out;
    if (acquire(out, true, no_timeout, {}) != core::verdict::granted) policy_ended();
    return out;
}

std::optional<lease> lock_handle::acquire(std::stop_token stop) {
    lease out;
    auto const outcome = acquire(out, true, no_timeout, std::move(stop));
    if (outcome == core::verdict::busy) policy_ended();
    if (outcome != core::verdict::granted) return std::nullopt;
    return out;
}

std::optional<lease> lock_handle::try_acquire(bool wait, nanoseconds timeout,
                                              std::stop_token stop) {
    lease out;
    if (acquire(out, wait, timeout, std::move(stop)) != core::verdict::granted) return std::nullopt;
    return out;
}

}  // namespace detail
}  // namespace v1
}  // namespace holdfast
