// The engine of one client: claims, lines, renewals and loss as one machine without I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/random.hpp"
#include "core/call.hpp"
#include "core/judgement.hpp"
#include "core/metrics.hpp"
#include "core/outbox.hpp"
#include "core/pending_requests.hpp"
#include "core/script.hpp"
#include "core/settlement_window.hpp"
#include "core/store_clock_reading.hpp"
#include "core/tenure.hpp"
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
        std::shared_ptr<judgement const> judge{};  ///< the product's own when empty
    };

    using outgoing = core::outgoing;

    /// A retry policy of the user's to be asked; the answer comes back by `answer_retry`.
    struct question {
        std::uint64_t ticket;
        terms_ptr policy_of;
        retry::attempt about;
    };

    /// What the driver has to do. It takes what it finds and clears it.
    struct actions {
        outbox requests;
        std::vector<std::shared_ptr<grant>> losses;  ///< to be announced on the notifier thread
        std::vector<question> questions;
        std::vector<std::string> warnings;  ///< for the log
    };

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
    void release(std::shared_ptr<grant> const& held, base::instant now,
                 release_call* call = nullptr);
    /// The same for a permit that is used up with it.
    void consume(std::shared_ptr<grant> const& held, base::instant now);
    void withdraw(release_call& call);
    /// Gives back what a thread took up in the fast lane and could not put aside again.
    void release(line& its, std::uint64_t generation, base::instant now);
    /// Nobody can lock through the line any more: what is put aside in its fast lane is given back.
    void abandon_lane(line& its, base::instant now);

    void renew(grant& held, std::optional<std::chrono::milliseconds> lease, renew_call& call,
               base::instant now);
    void withdraw(renew_call& call) noexcept;

    /// Takes a hold out of its line, on weaker terms, so that nobody here gets it as it was. Returns
    /// the request that weakens it at the store; nothing when the hold has ended.
    [[nodiscard]] std::optional<seam::convert> weaken(grant& held, terms_ptr to, base::instant now);

    void begin(operation_call& call, base::instant now);
    void withdraw(operation_call& call);

    /// Runs a script to its end; nothing of it is left when the call is completed.
    void begin(script_call& call, base::instant now);
    /// The caller no longer wants it: ends the script in `script_stopped` within this turn.
    void stop(script_call& call, base::instant now);
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
    [[nodiscard]] bool idle() const noexcept { return tenures_.empty() && spawned_.empty(); }
    [[nodiscard]] metrics const& counters();
    [[nodiscard]] seam::capabilities const& abilities() const noexcept { return set_.abilities; }

private:
    using claim_number = std::uint64_t;
    static constexpr std::chrono::milliseconds longest_back_off{1'000};
    using purpose = request_purpose;

    friend class stage;
    friend class stage_wait;
    friend struct script_call;

    /// One event. At its end the scripts that it has woken go on.
    class turn {
    public:
        turn(engine& of, base::instant now) noexcept;
        ~turn();
        turn(turn const&) = delete;
        turn& operator=(turn const&) = delete;

    private:
        engine& of_;
    };
    struct watching {
        std::uint64_t changes{0};  ///< that were told
        bool asked{false};         ///< the store may tell them, confirmed or not
        bool confirmed{false};     ///< the store tells them
        int askers{0};             ///< scripts whose request to watch is under way
        std::vector<script_call*> waiting{};
    };

    // scripting.cpp: scripts and what they watch
    void spawn(script_call::body what);
    void wake(script_call& call) noexcept;
    void run_ready();
    void end(script_call& call);
    [[nodiscard]] static bool closed_at_start(script_call const& call) noexcept;
    void check_open() const;
    void close_scripts();
    [[nodiscard]] std::uint64_t changes_of(seam::cell_key const& key) const;
    void tell_scripts(seam::cell_key const& key);
    void renew_watches();

    // engine.cpp: sending, answers, completion
    void send(purpose why, seam::request request, std::uint64_t subject, base::instant now,
              std::vector<renewed_claim> batch = {});
    void on_failure(pending_request const& was, base::error const& error, base::instant now);
    void dispatch(pending_request const& was, seam::reply const& answer, base::instant now);
    tenure* find(claim_number number) noexcept;
    void schedule(timed& it, base::instant due);
    void reschedule(tenure& it);
    [[nodiscard]] base::instant due_of(tenure const& it) const;
    [[nodiscard]] base::instant patience_end(tenure const& it) const;
    void complete(acquire_call& call, verdict outcome, base::error error = {});
    void finish(operation_call& call, base::error error);
    void on_operation_reply(pending_request const& was, seam::reply const& answer);
    void attempt_operation(operation_call& call, base::instant now);
    void on_due(tenure& it, base::instant now, std::vector<tenure*>& renewals);
    void destroy(tenure& it);
    [[nodiscard]] std::chrono::nanoseconds back_off(int failures, std::chrono::nanoseconds cap);
    [[nodiscard]] std::chrono::nanoseconds jitter(std::chrono::nanoseconds span);

    // acquiring.cpp: the line and the submit
    void start(std::shared_ptr<line> const& it, base::instant now);
    void submit(tenure& it, base::instant now);
    void send_submit(tenure& it, base::instant now);
    void await_clock(tenure& it, base::instant now);
    void on_clock(base::instant now);
    void on_submit_reply(tenure& it, pending_request const& was, seam::reply const& answer,
                         base::instant now);
    void on_granted(tenure& it, seam::grant const& grant, clock_pair const& pair,
                    base::instant now);
    void on_queued(tenure& it, std::chrono::milliseconds blocked_for, base::instant now);
    void on_refused(tenure& it, seam::refused const& no, base::instant now);
    void on_too_late(tenure& it, base::instant now);
    void on_submit_failure(tenure& it, base::error const& error, base::instant now);
    void answer_busy(line& its, base::instant now);
    void end_attempts(line& its);
    void give_first(tenure& it, base::instant now);
    void give(tenure& it, acquire_call& call, base::instant now);
    void ask_policy(tenure& it, base::error const& error, base::instant now);
    void fail_line(tenure& it, base::error const& error, base::instant now);
    void fail_impatient(tenure& it, base::instant now);
    void abandon(tenure& it, base::instant now);
    void leave(acquire_call& call, base::instant now);
    void on_deadline(acquire_call& call, base::instant now);
    [[nodiscard]] bool may_pass(tenure const& it, base::instant now) const;
    [[nodiscard]] base::instant give_up_time(tenure const& it, base::instant now) const;
    [[nodiscard]] base::error unreachable(tenure const& it) const;
    void plan_wait(tenure& it, std::chrono::milliseconds blocked_for, base::instant now);

    // keeping.cpp: renewal and loss
    void send_renewals(std::vector<tenure*> const& due, base::instant now);
    void on_renewed(pending_request const& was, seam::reply const& answer, base::instant now);
    void on_renewal(tenure& it, seam::renewal const& result, std::chrono::milliseconds lease,
                    clock_pair const& pair, base::instant now);
    void on_renewal_failure(tenure& it, base::error const& error, base::instant now);
    void confirm(tenure& it, seam::grant const& grant, std::chrono::milliseconds lease,
                 clock_pair const& pair, base::instant now);
    void lose(tenure& it, std::string const& why, base::instant now);
    void renew_now(tenure& it, base::instant now);
    void finish_renew_calls(tenure& it, base::instant sent = base::never);
    void on_session(seam::session_changed const& what, base::instant now);
    void on_changed(seam::cell_key const& key, base::instant now);

    // lane.cpp: what is put aside
    enum class lane_state { free, used, gone };
    [[nodiscard]] bool park(tenure& it, base::instant now);
    void limit_parked(base::instant now);
    void give_back_parked(tenure& it, base::instant now);
    lane_state unpark(tenure& it);
    void count_lane(line& its);

    // deadlock.cpp: the report
    void look_for_deadlock(tenure& it, base::instant now);
    void on_look(tenure& it, seam::reply const& answer, base::instant now);

    // ending.cpp: release and settlement
    void pass_on(tenure& it, base::instant now);
    void offer(tenure& it, base::instant now);
    void settle(tenure& it, base::instant now);
    [[nodiscard]] bool must_wait_to_settle(tenure& it);
    void settle_before(std::size_t name_hash, base::instant now);
    void settle_next();
    void send_settle(tenure& it, base::instant now);
    void settle_now(tenure& it, base::instant now);
    void on_settled(tenure& it, seam::settled const& what, seam::store_time done,
                    base::instant now);
    void on_settle_failure(tenure& it, base::error const& error, base::instant now);
    void tell_release(tenure& it, release_outcome outcome);

    settings const set_;
    std::shared_ptr<judgement const> judge_;
    base::random random_;
    agenda agenda_;
    boost::unordered_flat_map<claim_number, tenure*> tenures_;
    pending_requests pending_;
    store_clock_reading clock_;
    boost::unordered_flat_map<std::uint64_t, operation_call*> operations_;
    boost::unordered_flat_map<std::uint64_t, acquire_call*> asked_;
    settlement_window settlements_;
    std::deque<claim_number> parked_;  ///< in the order in which they were put aside; some are back
    std::vector<seam::cell_key> watched_;
    std::uint64_t last_claim_{0};
    std::uint64_t last_ticket_{0};
    bool closed_{false};
    base::instant now_{base::instant::min()};  ///< of the present turn
    int depth_{0};                             ///< of turns within turns
    boost::intrusive::list<script_call> scripts_;
    std::vector<script_call*> ready_;  ///< to be looked at when the turn ends
    std::vector<std::unique_ptr<script_call>> spawned_;
    std::map<seam::cell_key, watching> watches_;
    metrics metrics_;
};

}  // namespace holdfast::core
