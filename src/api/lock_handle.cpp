#include "api/lock_handle.hpp"

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
    return core::make_terms(std::move(spec), client.with_defaults(std::move(options)),
                            client.longest_lease());
}

}  // namespace

std::string checked_name(std::string_view name) {
    if (auto const fault = base::name_fault(name)) base::raise(errc::bad_name, *fault);
    return std::string{name};
}

acquired acquire_on(session& client, std::shared_ptr<core::wait_queue> queue, bool wait,
                    nanoseconds timeout, std::stop_token const& stop) {
    client.require_usable();
    if (stop.stop_requested()) return {core::verdict::stopped};
    auto& loop = client.loop();
    runtime::waiter self{loop};
    core::acquire_call call{std::move(queue), self};
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
      holders_{client_->holders_of(checked_name(name))},
      queue_{client_->queue_for(terms_of(*client_, name, std::move(options), which))},
      fast_{!recursive_ && client_->loop().has_biased_holds() && queue_->terms->sharable()} {
    queue_->handles.fetch_add(1, std::memory_order_relaxed);
}

lock_handle::~lock_handle() {
    if (!client_->at_home()) return;
    bool const last = queue_->handles.fetch_sub(1, std::memory_order_relaxed) == 1;
    if (last && queue_->bias != nullptr) client_->loop().abandon_parked(*queue_);
    if (holders_.use_count() > 1) return;
    auto const name = holders_->name();
    holders_.reset();
    client_->forget_holders(name);
}

std::shared_ptr<core::wait_queue> lock_handle::queue() const {
    return queue_->terms->sharable() ? queue_ : std::make_shared<core::wait_queue>(queue_->terms);
}

acquired lock_handle::get(bool wait, nanoseconds timeout, std::stop_token const& stop) {
    return acquire_on(*client_, queue(), wait, timeout, stop);
}

// --- by thread ---------------------------------------------------------------------------------

acquired lock_handle::lock(bool wait, nanoseconds timeout, std::stop_token stop) {
    client_->require_usable();
    if (fast_ && !stop.stop_requested() && lock_fast()) return {core::verdict::granted};
    if (recursive_) {
        if (auto held = enter_again()) return {core::verdict::granted, std::move(held)};
    } else if (auto const& entry = holders_->biased;
               entry.belongs_to(this_thread()) &&
               entry.slot().held->state(base::boot_clock::now()) == lease_state::lost) {
        leave_biased();  // what was lost is in nobody's way
    } else if (waits_for_itself()) {
        if (!wait || timeout != no_timeout) return {core::verdict::busy};
        base::raise(errc::would_deadlock, "this thread holds '" + name() + "' already");
    }
    auto out = get(wait, timeout, stop);
    if (out.held != nullptr) holders_->add(caller(), out.held);
    return out;
}

// In either mode: a second shared hold could wait behind a writer that waits for the first.
bool lock_handle::waits_for_itself() const {
    auto const me = this_thread();
    return holders_->biased.belongs_to(me) || holders_->is_held_by(me, base::boot_clock::now());
}

bool lock_handle::lock_fast() {
    auto const me = this_thread();
    if (holders_->biased.belongs_to(me)) return false;
    using entry = core::biased_hold::entry;
    auto const visit = queue_->bias->enter(base::boot_clock::now());
    if (visit.how == entry::stuck) client_->loop().release_biased(*queue_, visit.generation);
    if (visit.how != entry::yes) return false;
    if (holders_->biased.enter(me, *queue_, *visit.where)) return true;
    put_aside(*queue_, visit.generation);
    return false;
}

void lock_handle::put_aside(core::wait_queue& through, std::uint64_t generation) {
    if (!through.bias->leave(generation)) client_->loop().release_biased(through, generation);
}

// The hold may have been taken up through another mutex object of this name: the table knows.
bool lock_handle::unlock_fast() {
    auto& entry = holders_->biased;
    if (mode() != claim_mode::exclusive || !entry.belongs_to(this_thread())) return false;
    auto& through = entry.queue();
    auto const generation = entry.slot().generation;
    entry.leave();
    put_aside(through, generation);
    return true;
}

void lock_handle::unlock() {
    if (!client_->at_home() || unlock_fast()) return;
    auto const left = holders_->leave(caller());
    if (!left) not_held_by_thread(name()).raise();
    if (*left != nullptr) client_->loop().release_later(*left);
}

std::shared_ptr<core::hold_state> lock_handle::held_by_this_thread() const {
    auto const& entry = holders_->biased;
    if (mode() == claim_mode::exclusive && entry.belongs_to(this_thread()))
        return entry.slot().held;
    return holders_->find(caller());
}

// What this thread holds through the biased hold becomes a hold like all others, that can be counted: an
// attempt on its queue has the engine take it back, and asks nothing of the store.
void lock_handle::leave_biased() {
    auto& entry = holders_->biased;
    if (!entry.belongs_to(this_thread())) return;
    auto const through = client_->queue_for(*entry.queue().terms);
    auto const other = acquire_on(*client_, through, false, no_timeout, {});
    // The store had taken it back, and gave it anew: whoever calls acquires for himself.
    if (other.held != nullptr) client_->loop().release_later(other.held);
    auto const generation = entry.slot().generation;
    holders_->add({this_thread(), {}, claim_mode::exclusive}, entry.slot().held);
    entry.leave();
    client_->loop().drop_biased(*through, generation);
}

std::shared_ptr<core::hold_state> lock_handle::enter_again() {
    if (!recursive_) return nullptr;
    if (owner_.empty()) leave_biased();
    return holders_->enter_again(caller(), base::boot_clock::now());
}

// --- by lease ----------------------------------------------------------------------------------

core::verdict lock_handle::acquire(lease& into, bool wait, nanoseconds timeout,
                                   std::stop_token stop) {
    client_->require_usable();
    if (auto held = enter_again()) {
        into = as_nested_lease(std::move(held));
        return core::verdict::granted;
    }
    auto got = get(wait, timeout, stop);
    if (got.held != nullptr) into = as_lease(std::move(got.held));
    return got.outcome;
}

lease lock_handle::as_nested_lease(std::shared_ptr<core::hold_state> held) {
    return detail::access::make_lease(
        std::make_shared<single_hold>(client_, std::move(held), holders_));
}

void lock_handle::require_no_thread() const {
    if (recursive_ && owner_.empty())
        base::raise(
            errc::bad_option,
            "a recursive_mutex counts per thread unless lock_options::owner names the owner; "
            "the asynchronous forms need it");
}

lease lock_handle::as_lease(std::shared_ptr<core::hold_state> held) {
    if (recursive_) holders_->add(caller(), held);
    return detail::access::make_lease(
        std::make_shared<single_hold>(client_, std::move(held), recursive_ ? holders_ : nullptr));
}

void lock_handle::downgrade(lease& held) {
    client_->require_usable();
    auto* const state =
        detail::access::state(held) ? detail::access::state(held)->single() : nullptr;
    if (state == nullptr || &state->client() != client_.get() || held.name() != name())
        base::raise(errc::not_owner, "this lease does not hold '" + name() + "' of this client");
    if (state->held().held_terms().spec->kind != lock_kind::lock)
        base::raise(errc::kind_mismatch, "this lease of '" + name() + "' is not one of a lock");
    if (state->is_counted())
        base::raise(errc::bad_option,
                    "a hold of a recursive_mutex cannot be downgraded: whoever "
                    "enters '" +
                        name() + "' again would share it unknowingly");
    auto const request = client_->loop().weaken(state->held(), queue_->terms);
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
