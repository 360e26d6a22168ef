// A command on its way to a server, and who wants the answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

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
    /// What a connection does itself with the answer to a question of its own: nothing; or it is of no use unless
    /// the answer is yes; or it learns which server it is, what its role, which scripts it has, that it has one.
    enum class purpose { none, login, identity, role, inventory, script };

    command what;
    asker* from{nullptr};  ///< nullptr: the connection itself
    std::size_t which{0};
    /// By when the server that it was sent to last should have answered; then its connection ends, for all others too.
    base::instant give_up{};
    /// Until when it may be sent elsewhere or again; nothing before it was, for the first time.
    std::optional<base::instant> travels_until{};
    /// When nothing at all has come for about as long after it was sent, the connection seems dead; zero: it
    /// never does for this.
    std::chrono::milliseconds answer_within{0};
    /// In which order requests were asked, the same wherever they are sent; 0: not yet known.
    std::uint64_t turn{0};
    bool asking{false};   ///< the server that imports its slot is asked, by an ASKING before it
    int redirections{0};  ///< how often it was sent elsewhere
    int postponements{0};
    bool repeated{
        false};  ///< was sent on this connection before, and did not take effect in its turn
    purpose meaning{purpose::none};
    bool is_batch{false};  ///< stands for several, asked one by one when the server refuses it

    /// It is about to be sent elsewhere or again: this may go on for as long as it had at first.
    void limit_travel() noexcept {
        if (!travels_until) travels_until = give_up;
    }
};

}  // namespace holdfast::stores::redis
