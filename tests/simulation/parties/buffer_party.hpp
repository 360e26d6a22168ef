// A producer or a consumer of a bounded buffer under a mutex, with two conditions.
#pragma once

#include "simulation/parties/board.hpp"
#include "simulation/party.hpp"
#include "simulation/user.hpp"

namespace holdfast::simulation {

/// Locks, waits while the buffer is full or empty, tells the other side, changes the buffer, unlocks.
/// It tells before it changes, still locked: whoever dies between the two has told too much, never too
/// little. A change is made only by one who still has the mutex.
class buffer_party final : public party {
public:
    /// A patient consumer waits until it is told; a fickle one goes away for long when it was not.
    enum class role { producer, consumer, patient, fickle };

    buffer_party(world& where, client& home, std::string number, role its);

    [[nodiscard]] role its_role() const noexcept { return role_; }

    void start() override;
    void retire() override;
    [[nodiscard]] bool at_rest() const override { return resting_; }
    /// Since when it waits although there is something to do, and nobody does anything.
    [[nodiscard]] std::optional<moment> stuck_since() const override;
    [[nodiscard]] std::string text() const override;

private:
    struct wait_end final : core::completion {
        explicit wait_end(buffer_party& whose) : its{whose} {}
        void completed() noexcept override { its.on_completed(); }
        void queued() noexcept override { its.on_queued(); }
        buffer_party& its;
    };
    struct notify_end final : core::completion {
        explicit notify_end(buffer_party& whose) : its{whose} {}
        void completed() noexcept override { its.on_answer(); }
        buffer_party& its;
    };

    [[nodiscard]] bool ready() const;
    [[nodiscard]] bool done() const;
    [[nodiscard]] bool locked() const;
    [[nodiscard]] bool producing() const noexcept { return produces_ && !resting_; }
    void go_on();
    void pause();
    void look();
    void notify();
    void act();
    void wait();
    void unlock();
    void wind_down();
    void give_up_in(moment delay);
    void dishearten();
    void on_answer() noexcept;
    void on_queued() noexcept;
    void on_completed() noexcept;
    void on_woken();

    std::string const name_;
    role const role_;
    bool const produces_;
    bounded_buffer& buffer_;
    core::terms_ptr mine_;    ///< the condition that it waits for
    core::terms_ptr theirs_;  ///< and the one that it tells
    user& hand_;
    wait_end wait_end_{*this};
    notify_end notify_end_{*this};
    std::unique_ptr<core::acquire_call> waiting_;
    std::unique_ptr<core::operation_call> telling_;
    std::uint64_t waits_{0};  ///< rises with every wait
    moment since_{0};
    bool resting_{false};
};

}  // namespace holdfast::simulation
