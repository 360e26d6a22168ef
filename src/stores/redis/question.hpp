// A command on its way to a server, and who wants the answer.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "stores/redis/answer.hpp"
#include "stores/redis/command.hpp"

namespace holdfast::stores::redis {

/// Whoever sends commands. Each is answered once, by one of the three.
class asker {
public:
    /// `which` is the number that was given with the command, `clock` that of the server that answers. Throws
    /// `garbled` when the answer makes no sense; then the connection ends.
    virtual void on_answer(std::size_t which, answer const& what, seam::clock_id clock) = 0;
    virtual void on_failure(std::size_t which, base::error const& why) = 0;
    /// The same, where the reason is that the connection has ended: so will all others under way.
    virtual void on_cut(std::size_t which, base::error const& why) { on_failure(which, why); }

protected:
    ~asker() = default;
};

struct question {
    /// What a connection does itself with the answer to a question of its own.
    enum class purpose { none, identity, role };

    command what;
    asker* from{nullptr};  ///< nullptr: the connection itself
    std::size_t which{0};
    base::instant give_up{};
    /// When nothing at all has come for about as long after it was sent, the connection seems dead; zero: it
    /// never does for this.
    std::chrono::milliseconds answer_within{0};
    bool asking{false};   ///< the server that imports its slot is asked, by an ASKING before it
    int redirections{0};  ///< how often it was sent elsewhere
    int postponements{0};
    bool essential{false};  ///< of the connection itself: without it the connection is of no use
    purpose meaning{purpose::none};
    bool is_batch{
        false};  ///< stands for several, which are asked one by one when the server refuses it
};

}  // namespace holdfast::stores::redis
