// What a store tells unasked. A notice is a hint: it may be late, doubled or lost.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "seam/reply.hpp"

namespace holdfast::seam {

/// A waiting claim was granted. Its time of receipt proves nothing; `held.began` does, by the clock of
/// the server that granted it.
struct claim_granted {
    claim_id id;
    grant held;
    clock_id clock{};
};

/// A claim has ended at the store by somebody else's doing.
struct claim_gone {
    claim_id id;
    std::string why;
};

/// Somebody else began to wait for a name that this client holds.
struct name_contended {
    claim_id id;  ///< the claim in the way
};

/// A watched name or cell may be different now: try or read again.
struct changed {
    cell_key key;
};

/// The state of the connection to those who keep one: of a session-based store's session, and of the
/// subscription by which a store pushes notices. After `restored` notices may have been missed and
/// watches forgotten: the client asks again for all of them.
struct session_changed {
    enum class state { in_doubt, lost, restored };
    state became{};
    std::string why{};
    /// Whom it concerns, where a client has several sessions; all of the client's when it is empty.
    std::vector<claim_id> claims{};
};

using notice = std::variant<claim_granted, claim_gone, name_contended, changed, session_changed>;

}  // namespace holdfast::seam
