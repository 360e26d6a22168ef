// The engine of one client: claims, queues, renewals and loss as one machine without I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/call.hpp"
#include "core/engine_parts.hpp"
#include "core/task.hpp"

namespace holdfast::core {

/// Turns events (calls, replies, notices, time) into actions (requests to send, holds that were
/// lost, policies to ask). Time and randomness are passed in: the same events give the same actions.
///
/// Thread-safety: none; the runtime serialises. Calls belong to their callers and must stay until
/// they are completed or withdrawn.
class engine {
public:
    using settings = engine_settings;
    using outgoing = core::outgoing;

    using question = core::question;
    using actions = core::actions;

    explicit engine(settings with);

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
    void withdraw(release_call& call) noexcept;
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
    /// The caller no longer wants it: ends the task in `task_stopped` within this event.
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
    /// Nobody drives it any more: whoever still waits for a release hears that its outcome is unknown.
    void end_releases(base::instant now);

    // --- what it wants ---

    [[nodiscard]] actions& todo() noexcept { return parts_.shared.todo; }
    [[nodiscard]] base::instant next_due() const noexcept;
    /// Whether nothing of ours may be left at the store.
    [[nodiscard]] bool idle() const noexcept {
        return parts_.claims.empty() && parts_.tasks.idle();
    }
    [[nodiscard]] metrics const& counters();
    [[nodiscard]] seam::capabilities const& abilities() const noexcept {
        return parts_.shared.settings.abilities;
    }

private:
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

    void dispatch(pending_request const& was, seam::reply const& answer, base::instant now);
    void on_failure(pending_request const& was, base::error const& error, base::instant now);
    void close_claim(claim_state& claim, base::error const& why, base::instant now);

    engine_parts parts_;
};

}  // namespace holdfast::core
