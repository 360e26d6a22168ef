// Calls: what somebody waits for. The engine completes each exactly once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <boost/intrusive/list.hpp>

#include <holdfast/lease.hpp>

#include "base/error.hpp"
#include "core/completion.hpp"
#include "core/hold_state.hpp"
#include "core/terms.hpp"
#include "core/timer_queue.hpp"
#include "seam/reply.hpp"

namespace holdfast::core {

struct wait_queue;

/// How a call ended.
enum class verdict {
    pending,
    granted,
    busy,     ///< answered: somebody else has it, and the time or the policy is over
    failed,   ///< `error` says why
    stopped,  ///< the caller withdrew
};

/// One acquire. Lives with the caller until it is completed.
struct acquire_call : timed, boost::intrusive::list_base_hook<> {
    acquire_call(std::shared_ptr<wait_queue> where, recipient whom)
        : timed{kind::acquire}, in{std::move(where)}, to{whom} {}

    std::shared_ptr<wait_queue> in;
    recipient to;
    bool wait{true};           ///< false: one attempt
    bool takes_offers{false};  ///< a thread that can be nudged, rather than a callback
    seam::actor_id actor{};

    verdict outcome{verdict::pending};
    bool in_line{false};  ///< the store has had its claim in the line
    std::shared_ptr<hold_state> held{};
    base::error error{};

    // --- the engine's ---
    base::instant began{};
    base::instant nudged_since{base::never};  ///< first passed over by a barging thread
    int attempts{0};
    std::uint64_t ticket{0};  ///< while its retry policy is being asked
};

/// One request on its own: cells, listings, limits, pings. Resent until answered or due, but for an
/// eviction of whoever holds: a second one could end the hold of the next.
struct operation_call : timed {
    operation_call(seam::request what_to_ask, recipient whom)
        : timed{kind::operation}, ask{std::move(what_to_ask)}, to{whom} {}

    seam::request ask;
    recipient to;
    base::instant deadline{base::never};
    bool cleans_up{false};  ///< sent also while the client closes

    [[nodiscard]] bool is_sent_once() const noexcept {
        auto const* const eviction = std::get_if<seam::evict>(&ask);
        return eviction != nullptr && !eviction->only;
    }

    bool done{false};
    base::error error{};
    seam::reply answer{};

    // --- the engine's ---
    std::uint64_t ticket{0};
    int failures{0};
};

/// One release whose caller waits for the store's word. Several may wait for that of one hold.
struct release_call
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit release_call(completion& whom) : to{whom} {}
    recipient to;
    std::optional<release_outcome> outcome{};
};

/// One renewal whose caller waits for the store's word.
struct renew_call
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit renew_call(completion& whom) : to{whom} {}
    recipient to;
    base::instant asked{};  ///< an answer to what was sent before says nothing about it
    bool done{false};
};

}  // namespace holdfast::core
