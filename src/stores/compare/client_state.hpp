// What the parts of a machine share: everything that a client knows of itself and of its store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "seam/store.hpp"
#include "stores/compare/identity_text.hpp"
#include "stores/compare/own_claims.hpp"
#include "stores/compare/own_sessions.hpp"
#include "stores/compare/pending_calls.hpp"
#include "stores/compare/timepiece.hpp"

namespace holdfast::stores::compare {

/// What is passed in from outside.
struct environment {
    std::shared_ptr<seam::identity const> self;
    local_clocks clocks;
    std::function<std::uint64_t()> entropy;  ///< that nobody else can foretell
    std::function<void(log_level, std::string)> log;
};

/// What came of it, in order.
struct results {
    std::vector<std::pair<seam::request_id, seam::reply>> replies;
    std::vector<seam::notice> notices;
};

/// Thread-safety: none; it belongs to its machine.
struct client_state {
    client_state(driver& access, environment given, std::function<void(session_id)> on_death)
        : to{access},
          around{std::move(given)},
          traits{access.traits()},
          time{around.clocks, traits.clock},
          sessions{to,
                   calls,
                   time,
                   write_identity(*around.self),
                   around.entropy(),
                   [this](session_id id) { return claims.lives_with(id); },
                   std::move(on_death)},
          random{around.entropy()} {}

    driver& to;
    environment around;
    driver_traits traits;
    timepiece time;
    pending_calls calls{time};
    own_sessions sessions;
    own_claims claims;
    base::random random;
    /// Claims that were given up, until when a copy of their submit could still come.
    std::map<seam::claim_id, seam::store_time> tombstones;
    std::uint64_t stretch{1};  ///< of messages that came without a gap
    results out;

    void tell(seam::notice what) { out.notices.push_back(std::move(what)); }

    /// A grant as its holder may believe it: it lasts as long as the session, from its last sign of life on.
    void fill_in(seam::claim_id id, seam::grant& held) {
        auto const* const claim = claims.find(id);
        auto const* session = claim == nullptr ? nullptr : sessions.find(claim->session);
        if (session == nullptr) return;
        if (auto const* const other = sessions.find(claim->moving_to))
            if (other->began + other->lease < session->began + session->lease) session = other;
        held.began = session->began;
        held.lease = session->lease;
    }

    /// Whether a held claim is to be renewed for longer than its session lasts, and another one would last longer.
    [[nodiscard]] bool outgrows_session(seam::renew::item const& item) {
        auto const* const claim = claims.find(item.subject.id);
        if (claim == nullptr || !claim->held) return false;
        auto const* const session = sessions.find(claim->session);
        return session != nullptr && item.lease > session->lease &&
               !sessions.is_for(session->id, item.lease);
    }

    /// A claim of ours is held, as the store said in this stretch of messages.
    void note_held(seam::claim_id id, seam::grant& held, std::uint64_t seen_in) {
        auto* const claim = claims.find(id);
        if (claim == nullptr) return;
        claim->held = true;
        claim->waiting = false;
        claim->number = held.number;
        claim->contended = held.contended;
        claim->stretch = seen_in;
        fill_in(id, held);
    }
};

/// Why a call brought nothing else.
[[nodiscard]] inline base::error error_of(outcome const& what) {
    if (auto const* const no = std::get_if<rejected>(&what)) return no->error;
    if (auto const* const doubt = std::get_if<unknown>(&what)) return doubt->error;
    return {errc::store_unavailable, "the store's driver gave an answer of another kind"};
}

}  // namespace holdfast::stores::compare
