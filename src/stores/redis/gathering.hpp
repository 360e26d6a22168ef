// Calls that wait to be written, and go out as one call of a script that carries out many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "base/error.hpp"
#include "stores/redis/answer.hpp"
#include "stores/redis/question.hpp"

namespace holdfast::stores::redis {

/// Submits and settlements of one connection, between two writes, and what else has to stay behind them. Two or more of one slot that are there when it
/// is written become one call of scripts::many, which carries out those of names that nobody else uses; the others
/// are asked one by one when it is answered. One alone is sent as it is.
///
/// Requests of one name take effect in the order in which they came: while one of them is under way in a batch, which
/// may leave it, the next ones wait, those that never go out together with others included. (In a batch, settlements come first; only a submit may follow one of its name.) Names are told
/// apart by a part of their hash: two that are not different in it may have to wait for each other.
/// Not so in a Cluster, when the server sends one away (TRYAGAIN, MOVED, ASK): the next ones that are on the wire already may overtake it.
///
/// Thread-safety: none; its owner serialises.
class gathering {
public:
    /// The connection.
    class owner {
    public:
        /// Sends a call as it is.
        virtual void send_alone(question what) = 0;
        /// By when a call that is sent at this moment should be answered.
        [[nodiscard]] virtual base::instant answer_by() const = 0;

    protected:
        ~owner() = default;
    };

    explicit gathering(owner& of) noexcept;
    ~gathering();
    gathering(gathering const&) = delete;
    gathering& operator=(gathering const&) = delete;

    /// Whether the call may go out together with others.
    [[nodiscard]] bool takes(question const& what) const noexcept {
        return enabled_ && what.what.piece.gathers && !what.asking;
    }
    /// Whether the call, which does not go out together with others, has to wait for some of its name.
    [[nodiscard]] bool holds_back(question const& what) const noexcept {
        return what.what.piece.named && !what.asking && !names_.empty() &&
               is_busy(names_[place_of(what.what)]);
    }
    /// What it takes, or holds back.
    void add(question what);
    /// Sends what waits, as far as it may go now.
    void send();
    /// The same; but while enough batches are under way whose answers are near, what waits is left to gather until one
    /// of them is answered.
    void send_when_due();

    /// A call that was sent alone has been answered so: its name is used by others, or not any more.
    void learn(command const& asked, answer const& what) noexcept;
    /// A call is sent again, by itself: those of its name that come from now on wait until it is answered.
    void keep_behind(command const& what);
    void let_follow(command const& what) noexcept;
    /// Whether the answer is that of a call that came too early: something of its name that was sent before it is on
    /// its way again, and the call has had no effect. It is not told; asked again, behind the other, it is what it should be.
    [[nodiscard]] bool is_premature(question const& asked, answer const& what) const noexcept;

    /// The server does not carry out batches: all that follow go alone, until the connection ends.
    void switch_off() noexcept { enabled_ = false; }
    [[nodiscard]] bool is_on() const noexcept { return enabled_; }
    /// The server does not carry out this batch: each of it is to be asked alone, in this order.
    [[nodiscard]] std::vector<question> take_apart(question const& asked);

    /// How many requests wait here or are under way in batches.
    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size() + under_way_; }

    /// The connection has ended: what waits fails. What is under way is told by its batch.
    void cut(base::error const& why);

private:
    class batch;
    struct name_state {
        std::uint32_t waiting{0};
        std::uint32_t repeated{0};   ///< are sent again, each by itself
        std::uint16_t under_way{0};  ///< in batches, the next one included
        bool ends{false};            ///< the next batch ends a claim of the name
        bool used{false};            ///< by others: the last name that was found to be
        std::uint32_t used_name{0};  ///< the upper half of its hash
    };

    [[nodiscard]] std::size_t place_of(command const& of) const noexcept {
        return of.piece.name % names_.size();
    }
    [[nodiscard]] name_state& state_of(command const& of) noexcept { return names_[place_of(of)]; }
    [[nodiscard]] static bool is_busy(name_state const& of) noexcept {
        return of.under_way > 0 || of.waiting > 0 || of.repeated > 0;
    }
    [[nodiscard]] bool is_used_by_others(command const& what) noexcept;
    void learn(command const& about, bool used_by_others) noexcept;
    [[nodiscard]] bool may_gather() const noexcept;
    [[nodiscard]] bool must_wait(command const& what) noexcept;
    /// It is sent later than it was meant to be, or again, and has its time from now on.
    void prolong(question& what) const;
    void make_room();
    void wait(question what);
    void include(question what);
    void send_included();
    /// The parts of a batch, which are not under way in it any more.
    [[nodiscard]] std::vector<question> release(batch& whole);
    void end(batch& whole);
    /// Both.
    [[nodiscard]] std::vector<question> close(batch& whole);

    owner& owner_;
    bool enabled_{true};
    std::vector<question> waiting_;
    std::size_t held_back_{0};  ///< how many of them, the first ones, were not sent when they came
    bool goes_alone_{false};    ///< one of them, so that it has nothing to gain
    std::chrono::nanoseconds answer_took_{0};  ///< of the last batch
    std::vector<question> included_;           ///< in the next batch
    std::list<batch> batches_;                 ///< under way
    std::size_t under_way_{0};                 ///< in them
    std::vector<name_state> names_;
};

}  // namespace holdfast::stores::redis
