// The engine of one client: claims, queues, renewals and loss as one machine without I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/random.hpp"
#include "core/actions.hpp"
#include "core/call.hpp"
#include "core/cell_watches.hpp"
#include "core/claim_state.hpp"
#include "core/clock_readings.hpp"
#include "core/judgement.hpp"
#include "core/metrics.hpp"
#include "core/name_watches.hpp"
#include "core/pending_requests.hpp"
#include "core/renewal_window.hpp"
#include "core/settlement_window.hpp"
#include "core/task_scheduler.hpp"
#include "core/waiting_claims.hpp"
#include "seam/store.hpp"

namespace holdfast::core {

/// Turns events (calls, replies, notices, time) into actions (requests to send, holds that were
/// lost, policies to ask). Time and randomness are passed in: the same events give the same actions.
///
/// Thread-safety: none; the runtime serialises. Calls belong to their callers and must stay until
/// they are completed or withdrawn.
class engine {
public:
    struct settings {
        seam::client_id self{};
        seam::capabilities abilities{};
        std::chrono::milliseconds patience{10'000};
        std::chrono::milliseconds request_timeout{3'000};
        std::uint64_t seed{0};
        /// Which lane serves a name; all are of lane 0 when it is empty.
        std::function<seam::lane_id(std::string_view)> lane_of{};
        std::shared_ptr<judgement const> judge{};  ///< the product's own when empty
    };

    using outgoing = core::outgoing;

    using question = core::question;
    using actions = core::actions;

    explicit engine(settings with);
    ~engine();
    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;

    // --- calls ---

    void begin(acquire_call& call, base::instant now, base::instant deadline = base::never);
    /// The caller no longer wants it. Completes the call, unless it is complete already.
    void withdraw(acquire_call& call, base::instant now);
    /// A nudged call takes the hold that is on offer, if it still is.
    void take_offer(acquire_call& call, base::instant now);

    /// Gives the hold back. `call`, when given, is completed with the store's word.
    void release(std::shared_ptr<hold_state> const& held, base::instant now,
                 release_call* call = nullptr);
    /// The same for a permit that is used up with it.
    void consume(std::shared_ptr<hold_state> const& held, base::instant now);
    void withdraw(release_call& call);
    /// Gives back what a thread took up in the biased hold and could not put aside again.
    void release(wait_queue& queue, std::uint64_t generation, base::instant now);
    /// Nobody can lock through the queue any more: what is put aside in its biased hold is given back.
    void abandon_parked(wait_queue& queue, base::instant now);

    void renew(hold_state& held, std::optional<std::chrono::milliseconds> lease, renew_call& call,
               base::instant now);
    void withdraw(renew_call& call) noexcept;

    /// Takes a hold out of its queue, on weaker terms, so that nobody here gets it as it was. Returns
    /// the request that weakens it at the store; nothing when the hold has ended.
    [[nodiscard]] std::optional<seam::convert> weaken(hold_state& held, terms_ptr to,
                                                      base::instant now);

    void begin(operation_call& call, base::instant now);
    void withdraw(operation_call& call);

    /// Runs a task to its end; nothing of it is left when the call is completed.
    void begin(task_call& call, base::instant now);
    /// The caller no longer wants it: ends the task in `script_stopped` within this turn.
    void stop(task_call& call, base::instant now);
    /// Nobody of the caller's waits for the key any more.
    void unwatch(seam::cell_key const& key, base::instant now);

    // --- events ---

    void on_reply(seam::request_id id, seam::reply const& answer, base::instant now);
    void on_notice(seam::notice const& what, base::instant now);
    void on_time(base::instant now);
    void answer_retry(std::uint64_t ticket, std::optional<std::chrono::milliseconds> delay,
                      base::instant now);

    /// Ends every call and hold with `closed` and begins to settle all claims.
    void close(base::instant now);

    // --- what it wants ---

    actions todo;
    [[nodiscard]] base::instant next_due() const noexcept;
    /// Whether nothing of ours may be left at the store.
    [[nodiscard]] bool idle() const noexcept { return claims_.empty() && tasks_.idle(); }
    [[nodiscard]] metrics const& counters();
    [[nodiscard]] seam::capabilities const& abilities() const noexcept { return set_.abilities; }

    // --- for its tasks ---

    /// The time of the present event.
    [[nodiscard]] base::instant now() const noexcept { return now_; }
    [[nodiscard]] std::chrono::milliseconds patience() const noexcept { return set_.patience; }
    [[nodiscard]] std::chrono::milliseconds request_timeout() const noexcept {
        return set_.request_timeout;
    }
    [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds span);
    /// Names a claim, or one swap, for ever.
    [[nodiscard]] seam::claim_id next_claim_id() noexcept { return {set_.self, ++last_claim_}; }
    [[nodiscard]] cell_watches& watches() noexcept { return watches_; }
    void schedule(timed& entry, base::instant due);
    /// Begins a task that nobody waits for.
    void spawn(task_call::body what) { tasks_.spawn(std::move(what), *this); }
    /// Throws errc::closed when the client was closed.
    void check_open() const;

private:
    using claim_number = std::uint64_t;
    static constexpr std::chrono::milliseconds longest_back_off{1'000};
    /// At a store without a line nobody knows whether others wait. Who has used up its passes lets them try.
    static constexpr std::chrono::milliseconds pause_for_others{50};
    using purpose = request_purpose;

    /// One event. At its end the tasks that it has woken go on.
    class turn {
    public:
        turn(engine& of, base::instant now) noexcept;
        ~turn();
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;

    private:
        engine& of_;
    };
    // engine.cpp: sending, answers, completion
    void send(pending_request about, seam::request request);
    [[nodiscard]] seam::lane_id lane_of(std::string_view name) const;
    void enter(claim_state& claim, claim_phase next);
    void watch_name(claim_state& claim, base::instant now);
    void unwatch_name(claim_state& claim);
    void on_failure(pending_request const& was, base::error const& error, base::instant now);
    void dispatch(pending_request const& was, seam::reply const& answer, base::instant now);
    claim_state* find(claim_number number) noexcept;
    void complete(acquire_call& call, verdict outcome, base::error error = {});
    void destroy(claim_state& claim);

    // timing.cpp: what comes due
    void reschedule(claim_state& claim);
    [[nodiscard]] base::instant due_of(claim_state const& claim) const;
    [[nodiscard]] base::instant patience_end(claim_state const& claim) const;
    void on_due(claim_state& claim, base::instant now);
    [[nodiscard]] std::chrono::nanoseconds back_off(int failures, std::chrono::nanoseconds cap);

    // operations.cpp: requests of their own
    void finish(operation_call& call, base::error error);
    void on_operation_reply(pending_request const& was, seam::reply const& answer);
    void attempt_operation(operation_call& call, base::instant now);

    // callers.cpp and submitting.cpp: the wait queue and the submit
    void start(std::shared_ptr<wait_queue> const& queue, base::instant now);
    void start_again(std::shared_ptr<wait_queue> const& queue, base::instant now);
    [[nodiscard]] bool must_let_others_try(wait_queue& queue, base::instant now) const;
    claim_state& add_claim(std::shared_ptr<wait_queue> const& queue);
    void submit(claim_state& claim, base::instant now);
    void send_submit(claim_state& claim, base::instant now);
    void await_clock(claim_state& claim, base::instant now);
    void on_clock(seam::lane_id lane, base::instant now);
    void on_submit_reply(claim_state& claim, pending_request const& was, seam::reply const& answer,
                         base::instant now);
    void on_granted(claim_state& claim, seam::grant const& grant, clock_readings::reading const& by,
                    base::instant now);
    [[nodiscard]] std::chrono::nanoseconds poll_interval(claim_state& claim,
                                                         std::chrono::milliseconds blocked_for);
    void on_queued(claim_state& claim, std::chrono::milliseconds blocked_for, base::instant now);
    void on_refused(claim_state& claim, seam::refused const& no, base::instant now);
    void on_too_late(claim_state& claim, base::instant now);
    void on_submit_failure(claim_state& claim, base::error const& error, base::instant now);
    void answer_busy(wait_queue& queue, base::instant now);
    void end_attempts(wait_queue& queue);
    void give_first(claim_state& claim, base::instant now);
    void give(claim_state& claim, acquire_call& call, base::instant now);
    void ask_policy(claim_state& claim, base::error const& error, base::instant now);
    void fail_queue(claim_state& claim, base::error const& error, base::instant now);
    void fail_impatient(claim_state& claim, base::instant now);
    void abandon(claim_state& claim, base::instant now);
    void leave(acquire_call& call, base::instant now);
    void on_deadline(acquire_call& call, base::instant now);
    [[nodiscard]] bool may_pass(claim_state const& claim, base::instant now) const;
    [[nodiscard]] base::instant give_up_time(claim_state const& claim, base::instant now) const;
    [[nodiscard]] base::error unreachable(claim_state const& claim) const;
    void plan_wait(claim_state& claim, std::chrono::milliseconds blocked_for, base::instant now);

    // keeping.cpp: renewal and loss
    void want_renewal(claim_state& claim, base::instant now);
    [[nodiscard]] renewal_window::wish wish_of(claim_state const& claim, base::instant now) const;
    [[nodiscard]] std::chrono::nanoseconds answer_time(claim_state const& claim) const;
    void send_renewals(base::instant now);
    [[nodiscard]] std::vector<claim_state*> next_batch(seam::lane_id lane);
    void send_renewal(seam::lane_id lane, std::span<claim_state* const> claims, base::instant now,
                      std::uint64_t place = 0);
    void on_renewed(pending_request const& was, seam::reply const& answer, base::instant now);
    void on_renewal(claim_state& claim, seam::renewal const& result,
                    std::chrono::milliseconds lease, clock_readings::reading const& by,
                    base::instant now);
    void on_renewal_failure(claim_state& claim, base::error const& error, base::instant now);
    void confirm(claim_state& claim, seam::grant const& grant, std::chrono::milliseconds asked,
                 clock_readings::reading const& by, base::instant now);
    [[nodiscard]] static std::chrono::nanoseconds renew_every(claim_state const& claim,
                                                              std::chrono::milliseconds lease);
    void begin_anew(claim_state& claim, base::instant now);
    void lose(claim_state& claim, std::string const& why, base::instant now);
    void renew_now(claim_state& claim, base::instant now);
    void finish_renew_calls(claim_state& claim, base::instant sent = base::never);
    void on_pushed_grant(claim_state& claim, seam::claim_granted const& told, base::instant now);
    void on_gone(claim_state& claim, std::string const& why, base::instant now);
    void on_contended(claim_state& claim, base::instant now);
    void on_session(seam::session_changed const& what, base::instant now);
    void doubt(claim_state& claim, base::instant now);
    void on_session_end(claim_state& claim, std::string const& why, base::instant now);
    [[nodiscard]] std::vector<claim_state*> concerned(seam::session_changed const& what);
    void on_changed(seam::cell_key const& key, base::instant now);

    // parking.cpp: what is put aside
    enum class parked_state { free, used, gone };
    [[nodiscard]] bool park(claim_state& claim, base::instant now);
    void limit_parked(base::instant now);
    void give_back_parked(claim_state& claim, base::instant now);
    parked_state unpark(claim_state& claim);
    void count_biased_uses(wait_queue& queue);

    // deadlock.cpp: the report
    void look_for_deadlock(claim_state& claim, base::instant now);
    void on_look(claim_state& claim, seam::reply const& answer, base::instant now);

    // ending.cpp: release and settlement
    void pass_on(claim_state& claim, base::instant now);
    void offer(claim_state& claim, base::instant now);
    void settle(claim_state& claim, base::instant now);
    [[nodiscard]] bool must_wait_to_settle(claim_state& claim);
    void settle_before(std::size_t name_hash, base::instant now);
    void settle_next(seam::lane_id lane);
    void send_settle(claim_state& claim, base::instant now);
    void settle_now(claim_state& claim, base::instant now);
    void on_settled(claim_state& claim, seam::reply const& answer, base::instant now);
    void on_settle_failure(claim_state& claim, base::error const& error, base::instant now);
    void tell_release(claim_state& claim, release_outcome outcome);

    settings const set_;
    std::shared_ptr<judgement const> judge_;
    base::random random_;
    timer_queue timers_;
    boost::unordered_flat_map<claim_number, claim_state*> claims_;
    pending_requests pending_;
    clock_readings clocks_;
    boost::unordered_flat_map<std::uint64_t, operation_call*> operations_;
    boost::unordered_flat_map<std::uint64_t, acquire_call*> asked_;
    settlement_window settlements_;
    renewal_window renewals_;
    timed renewals_timer_{timed::kind::renewals};  ///< for those that wait their turn
    std::deque<claim_number> parked_;  ///< in the order in which they were put aside; some are back
    waiting_claims waiting_;
    name_watches name_watches_;
    std::uint64_t last_claim_{0};
    std::uint64_t last_ticket_{0};
    bool closed_{false};
    base::instant now_{base::instant::min()};  ///< of the present turn
    int depth_{0};                             ///< of turns within turns
    task_scheduler tasks_{timers_};
    cell_watches watches_;
    metrics metrics_;
};

}  // namespace holdfast::core
