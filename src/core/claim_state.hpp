// The state of one claim at the store, as its client knows it.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "base/error.hpp"
#include "core/call.hpp"
#include "core/claim_phase.hpp"
#include "core/hold_state.hpp"
#include "core/timer_queue.hpp"
#include "core/wait_queue.hpp"
#include "seam/reply.hpp"

namespace holdfast::core {

class claim_state : public timed {
public:
    claim_state(seam::claim whose, terms_ptr asked_on)
        : timed{kind::claim},
          subject{std::move(whose)},
          terms{std::move(asked_on)},
          lease{terms->spec->lease} {}

    seam::claim const subject;
    terms_ptr terms;
    std::shared_ptr<wait_queue> queue{};  ///< null once the queue has let go of it

    // Small things together, for the sake of those who have a hundred thousand.
    unsigned unanswered{0};     ///< submits without an answer: each may still take effect
    int failures{0};            ///< of requests, in a row
    unsigned pass{0};           ///< of the store's grant
    int confirmations{0};       ///< of a grant that came late
    int settles{0};             ///< sent
    int polls{0};               ///< in a row, at a store without a line
    seam::lane_id lane{};       ///< to which its last request went
    bool asking{false};         ///< a request is under way for this phase
    bool in_store_line{false};  ///< the store will hand over to it
    bool hinted{false};         ///< something changed while the submit was under way
    bool attempting{false};     ///< the renewal under way is an attempt of a retry policy
    bool contended{false};      ///< somebody else waits for the name
    bool was_held{false};
    bool listed{false};             ///< among those who want a name and do not have it
    bool watches_name{false};       ///< at a store without a line
    bool consume{false};            ///< the permit is used up with it
    bool settles_in_window{false};  ///< its settlement has a place among those under way
    bool settle_waits{false};       ///< for such a place

    // Requests under way. A submit may be under way more than once.
    seam::clock_id clock{};                ///< of the store's times in here
    seam::store_time last_not_after{};     ///< until when submits may take effect
    seam::store_time seen_waiting{};       ///< when the store last said that it waits
    base::instant answer_by{base::never};  ///< when the request under way is given up
    base::instant silent_since{base::never};
    base::instant turn_by{base::never};   ///< with this deadline it waits its turn to be renewed
    base::instant try_at{base::never};    ///< when to submit or settle next
    base::instant renew_at{base::never};  ///< when to show the store that we are alive

    // The hold.
    std::chrono::milliseconds lease;           ///< what renewals ask for
    std::chrono::milliseconds lease_given{};   ///< by the store; zero as long as nothing was
    base::instant shorter_since{base::never};  ///< when its user asked for a shorter one
    seam::sequence number{};
    base::instant granted{};        ///< no later than the store's grant: for the bound on passes
    base::instant deadline{};       ///< before the store can give it to another
    seam::store_time held_until{};  ///< the end of the last lease that is known to have begun
    std::shared_ptr<hold_state> hold{};
    boost::intrusive::list<renew_call, boost::intrusive::constant_time_size<false>> renew_calls{};
    std::uint64_t generation{0};  ///< of the queue's revocation word; 0 without one

    // The end.
    base::instant keep_until{};  ///< the name stays taken until then, after an early release
    base::instant surely_over{
        base::never};  ///< the store has forgotten it by then, whatever was lost
    std::shared_ptr<hold_state> released{};  ///< whose release is being settled
    boost::intrusive::list<release_call, boost::intrusive::constant_time_size<false>> releasing{};

    /// What few claims ever have: kept apart, since there may be a hundred thousand of them.
    struct cold_part {
        base::error error{};                        ///< of the last request, until one succeeds
        std::string gone_hint{};                    ///< why the store said that it is gone
        std::vector<lock_info> seen{};              ///< pages of a look for deadlocks under way
        base::instant in_cycle_since{base::never};  ///< of waiting owners, as it was last seen
    };
    [[nodiscard]] cold_part& cold() {
        if (cold_ == nullptr) cold_ = std::make_unique<cold_part>();
        return *cold_;
    }
    [[nodiscard]] base::error last_error() const { return cold_ ? cold_->error : base::error{}; }
    [[nodiscard]] std::string gone_hint() const { return cold_ ? cold_->gone_hint : std::string{}; }
    /// A request has succeeded.
    void forget_error() noexcept {
        if (cold_ != nullptr) cold_->error = {};
    }
    void forget_gone_hint() noexcept {
        if (cold_ != nullptr) cold_->gone_hint.clear();
    }

    /// The claim has to do with this clock now. What was remembered of another one means nothing here: a
    /// submit that names the other clock is never sent to this server.
    void use_clock(seam::clock_id next) noexcept {
        if (next == clock) return;
        clock = next;
        last_not_after = seen_waiting = held_until = {};
    }

    [[nodiscard]] claim_phase at() const noexcept { return at_; }
    /// For claim_table::enter, which knows what depends on it.
    void enter(claim_phase next) noexcept {
        assert(may_follow(at_, next));
        at_ = next;
    }

    /// How long the store keeps it after a grant or a renewal that asked for so much.
    [[nodiscard]] std::chrono::milliseconds store_lease(
        std::chrono::milliseconds asked) const noexcept {
        return lease_given > lease_given.zero() ? lease_given : asked;
    }
    /// The longer of what was asked for and what was given: the store may keep it for so long.
    [[nodiscard]] std::chrono::milliseconds longest_lease() const noexcept {
        return std::max(lease, lease_given);
    }
    /// Nothing is under way for it: it lets others try first.
    [[nodiscard]] bool is_pausing() const noexcept {
        return at_ == claim_phase::submitting && !asking && failures == 0 && try_at != base::never;
    }
    /// It wants to be renewed, and waits its turn: see renewal_window.
    [[nodiscard]] bool waits_to_renew() const noexcept {
        bool const keeps = at_ == claim_phase::held || at_ == claim_phase::waiting ||
                           at_ == claim_phase::confirming;
        return keeps && asking && answer_by == base::never;
    }
    [[nodiscard]] bool in_doubt() const noexcept { return failures > 0; }
    [[nodiscard]] base::instant lost_at() const noexcept { return deadline - terms->grace; }

private:
    std::unique_ptr<cold_part> cold_{};
    claim_phase at_{claim_phase::submitting};
};

}  // namespace holdfast::core
