// Requests of their own: cells, listings, limits.
#pragma once

#include <cstdint>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/clock.hpp"
#include "core/call.hpp"
#include "core/engine_context.hpp"

namespace holdfast::core {

struct engine_parts;

/// Each is sent again until it is answered, or its time is over.
///
/// Thread-safety: none; it belongs to the engine.
class operation_calls {
public:
    operation_calls(engine_parts& parts, engine_context& shared) noexcept
        : parts_{parts}, shared_{shared} {}

    void begin(operation_call& call, base::instant now);
    void withdraw(operation_call& call);
    /// It has come due: sends it, or ends it.
    void attempt(operation_call& call, base::instant now);
    void on_reply(pending_request const& was, seam::reply const& answer);
    void on_failure(pending_request const& was, base::error const& error, base::instant now);
    /// Ends all but those that clean up.
    void close(base::error const& why);

private:
    void finish(operation_call& call, base::error error);

    engine_parts& parts_;
    engine_context& shared_;
    boost::unordered_flat_map<std::uint64_t, operation_call*> calls_;  ///< by their tickets
    std::uint64_t last_ticket_{0};
};

}  // namespace holdfast::core
