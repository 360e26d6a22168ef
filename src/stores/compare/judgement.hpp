// A judgement: one request, decided by the rules over a working copy, as a step for the store.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "stores/compare/message.hpp"
#include "stores/compare/step.hpp"
#include "stores/compare/working_copy.hpp"
#include "stores/lease/rules.hpp"

namespace holdfast::stores::compare {

/// A notice for this client itself.
struct own_notice {
    seam::notice what;
    session_id session{};  ///< with which the claim lives, or lived, that it is about
};

/// What the rules say, as long as the name is what was seen.
struct verdict {
    std::vector<seam::reply_body> bodies{};  ///< one for each request that was judged
    /// Of everything that is to be written; none when nothing is. Its guard, its time and its second branch
    /// are the caller's.
    std::optional<step> next{};
    std::vector<own_notice> own{};         ///< once the step is carried out
    view after{};                          ///< once it is; without the stamp of its head
    bool full{false};                      ///< the line can move further: judge it again afterwards
    std::vector<session_id> unverified{};  ///< were taken for alive
    bool head_written{false};
};

/// One request, and who asks.
struct asking {
    seam::request const* what{nullptr};  ///< none: only what time has brought
    judging context{};
};

/// Requests of one client that one step may carry out.
inline constexpr std::size_t most_together = 16;
static_assert(most_together < sequences_per_step, "each of them may draw one");

/// Decides requests of one client one after the other, for one step; as many of them as what was seen suffices for,
/// and at least the first. Otherwise as the one for a single request.
[[nodiscard]] std::variant<verdict, miss> judge(view const& seen, std::span<asking const> all,
                                                std::vector<seam::claim_id> const& asked);

/// Decides `what` on the name as it was seen; without a request, only what time has brought. `asked`: claims
/// that were looked for in the line.
/// A pure function of its arguments. Throws when a record cannot be read.
[[nodiscard]] std::variant<verdict, miss> judge(view const& seen, seam::request const* what,
                                                std::vector<seam::claim_id> const& asked,
                                                judging const& context);

/// Decides a submit whose claim has joined the line before anybody looked: as if it came now, with those in the
/// line that stand before it. Otherwise as `judge`.
[[nodiscard]] std::variant<verdict, miss> judge_joined(view const& seen, seam::request const& what,
                                                       std::vector<seam::claim_id> const& asked,
                                                       judging const& context);

/// Makes known what was symbolic, once the step has its stamp.
void resolve(seam::reply_body& body, stamp written);
void resolve(seam::notice& what, stamp written);

}  // namespace holdfast::stores::compare
