// A wait queue: the callers of this client that want one name on the same terms.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>

#include <boost/intrusive/list.hpp>

#include "base/clock.hpp"
#include "core/biased_hold.hpp"
#include "core/call.hpp"
#include "core/terms.hpp"

namespace holdfast::core {

class claim_state;

/// Only one claim of theirs is at the store; the hold passes among them without a message. Claims that
/// may not be passed (fair, shared, owned) have a queue of their own for each call.
///
/// Thread-safety: the runtime's lock guards everything but `handles` and the lock-free part of `bias`.
struct wait_queue {
    /// `biased` on a store that parks, where the terms are sharable.
    explicit wait_queue(terms_ptr asked_on, bool biased = false)
        : terms{std::move(asked_on)}, bias{biased ? std::make_unique<biased_hold>() : nullptr} {}

    terms_ptr terms;
    boost::intrusive::list<acquire_call, boost::intrusive::constant_time_size<false>>
        waiting{};                  ///< first come, first served
    claim_state* current{nullptr};  ///< the claim that is at the store for them
    [[nodiscard]] bool has_several_waiting() const {
        return !waiting.empty() && std::next(waiting.begin()) != waiting.end();
    }

    std::uint64_t last_token{0};
    base::instant busy_at{base::instant::min()};  ///< when it was last known to be taken
    std::unique_ptr<biased_hold> const bias;      ///< on a store of this process
    std::atomic<int> handles{0};                  ///< synchronizer objects that lock through it
    base::instant let_go_at{};                    ///< when a hold of theirs last ended
    base::instant turns_since{};                  ///< when the first of `turns` began
    int turns{0};         ///< claims in a row, with hardly a pause, at a store without a line
    bool offered{false};  ///< `current` is held, nobody uses it, and the first call was nudged
};

}  // namespace holdfast::core
