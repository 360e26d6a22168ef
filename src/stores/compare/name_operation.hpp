// An operation: one request on one name, from the first look to its answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "stores/compare/judgement.hpp"

namespace holdfast::stores::compare {

/// What a request turns into. Operations of one client on one name come one after the other, so that it never
/// gets in its own way.
struct name_operation {
    using continuation = std::function<void(seam::reply_body)>;

    name_key key;
    std::optional<seam::request> what{};  ///< none: only what time has brought
    continuation done;

    std::uint64_t begun{0};  ///< when, by the order of all that the client does
    bool started{false};
    bool alone{false};  ///< goes into no step with others

    name_query asked{};
    std::optional<view> seen{};                ///< fetched for this operation
    std::vector<seam::claim_id> looked_for{};  ///< the claims that it was asked for with
    std::uint64_t seen_as_of{0};
    std::uint64_t stretch{0};  ///< of messages, in which the store was last asked
    own_session session{};
    session_id end{};
    std::uint64_t secret{0};
    bool tombstone{false};
    bool moves{false};  ///< its claim goes over to the operation's session, for a longer lease
    bool tells_first{false};   ///< the first in the line is told that the name is kept
    bool tells_holder{false};  ///< who holds is told that somebody waits
    bool appended{false};      ///< its claim may stand in the line, unjudged
    std::optional<seam::refused>
        refusal{};  ///< the answer, once its claim is out of the store again
    unsigned tries{0};

    /// With a session all that stood in it is gone.
    void enter(own_session const& other) {
        if (session.id != session_id{} && session.id != other.id) appended = false;
        session = other;
    }
};

/// Why it ends without an answer when it had to be judged again too often.
[[nodiscard]] base::error too_many_others();

/// True when something was not asked for yet.
template <class Id>
bool ask_for(std::vector<Id>& asked, std::vector<Id> const& more) {
    auto const before = asked.size();
    for (auto const id : more)
        if (std::ranges::find(asked, id) == asked.end()) asked.push_back(id);
    return asked.size() > before;
}

/// The claim that a request is about; none where it is about none.
[[nodiscard]] seam::claim const* subject_of(seam::request const& what);

/// For how long what the request writes outlives its client, if it does; on a store without a clock that is
/// a session of its own.
struct lasting {
    std::chrono::milliseconds span{0};
    bool shared{false};  ///< a little longer does no harm
};
[[nodiscard]] std::optional<lasting> lasting_of(seam::request const& what);

/// The line item of a submit's claim.
[[nodiscard]] line_item waiter_of(seam::submit const& wanted, judging const& context);

}  // namespace holdfast::stores::compare
