// A simulated user: a thread or a coroutine that takes a name, works, and lets go, over and over.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/call.hpp"
#include "simulation/client.hpp"
#include "simulation/holds.hpp"

namespace holdfast::simulation {

/// What one user does. Percentages are of its calls.
struct habit {
    core::terms_ptr terms{};
    moment think{std::chrono::milliseconds{5}};   ///< at most, between two calls
    moment hold{std::chrono::milliseconds{5}};    ///< at most
    moment wake{std::chrono::microseconds{100}};  ///< at most, for a thread to run again
    bool takes_offers{true};                      ///< a thread; else a callback
    unsigned tries{0};                            ///< one attempt that does not wait
    unsigned deadlines{0};
    moment deadline{std::chrono::milliseconds{50}};  ///< at most
    unsigned stops{0};                               ///< withdrawn while waiting
    unsigned waits{50};                              ///< releases that wait for the store's word
    unsigned renews{0};                              ///< holds with a renewal on demand
    unsigned relengths{0};                           ///< of those, with another lease
    core::terms_ptr weaker{};                        ///< a reader's, or fewer permits
    unsigned weakens{0};                             ///< holds that become weaker on the way
    unsigned limits{0};  ///< holds in which the limit of the semaphore is changed
    unsigned clings{0};  ///< goes on for a while after it was told of the loss
};

class user {
public:
    user(world& where, client& home, std::uint64_t number, habit its);
    ~user();
    user(user const&) = delete;
    user& operator=(user const&) = delete;

    void start();
    /// Begins nothing new, and gives back what it gets.
    void retire() noexcept { retired_ = true; }
    /// Its process was killed.
    void vanish();
    void on_lost();

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] habit const& its_habit() const noexcept { return habit_; }
    [[nodiscard]] call_record const* pending() const noexcept;
    [[nodiscard]] std::shared_ptr<local_hold> const& hold() const noexcept { return hold_; }
    [[nodiscard]] bool at_rest() const noexcept { return call_ == nullptr && hold_ == nullptr; }

    // --- single steps, also for scripted tests ---

    void acquire(bool wait, base::instant deadline = base::never);
    void stop_waiting();
    void renew(std::optional<std::chrono::milliseconds> lease);
    void release(bool wait);
    /// From writer to reader, or from many permits to fewer, without a gap.
    void weaken();
    void set_limit(std::uint32_t limit);

    [[nodiscard]] std::optional<core::verdict> last_verdict() const noexcept { return verdict_; }
    [[nodiscard]] base::error const& last_error() const noexcept { return error_; }
    [[nodiscard]] std::optional<release_outcome> last_outcome() const noexcept { return outcome_; }
    [[nodiscard]] std::uint64_t holds() const noexcept { return holds_; }
    bool scripted{false};          ///< acts only when told
    std::function<void()> then{};  ///< of a scripted one: its acquire has ended

private:
    struct acquire_end final : core::completion {
        explicit acquire_end(user& whose) : who{whose} {}
        void completed() noexcept override { who.on_completed(); }
        void nudged() noexcept override { who.on_nudged(); }
        user& who;
    };
    struct release_end final : core::completion {
        release_end(user& whose, std::shared_ptr<local_hold> what)
            : who{whose}, of{std::move(what)} {}
        void completed() noexcept override { who.on_answer(*this); }
        user& who;
        std::shared_ptr<local_hold> of;
        core::release_call call{*this};
        bool done{false};
    };
    struct renew_end final : core::completion {
        void completed() noexcept override {}
        core::renew_call call{*this};
    };
    struct ask_end final : core::completion {
        explicit ask_end(seam::request what) : call{std::move(what), *this} {}
        void completed() noexcept override {}
        core::operation_call call;
    };

    void think();
    void take_up();
    void ask(seam::request what);
    void plan_changes(moment work);
    [[nodiscard]] bool enter_lane();
    void on_completed() noexcept;
    void on_nudged() noexcept;
    void on_acquired();
    void on_answer(release_end& it) noexcept;
    void later(moment delay, std::function<void()> what);

    world& world_;
    client& home_;
    std::uint64_t const number_;
    habit const habit_;
    acquire_end end_{*this};
    std::unique_ptr<core::acquire_call> call_;
    call_record record_;
    std::uint64_t turn_{0};  ///< rises with every step: what belongs to an earlier one is void
    std::shared_ptr<local_hold> hold_;
    std::shared_ptr<core::wait_queue> biased_queue_;  ///< by whose biased hold it holds
    std::uint64_t generation_{0};
    std::vector<std::unique_ptr<release_end>> releases_;
    std::vector<std::unique_ptr<renew_end>> renewals_;
    std::vector<std::unique_ptr<ask_end>> asked_;
    std::optional<core::verdict> verdict_;
    base::error error_;
    std::optional<release_outcome> outcome_;
    std::uint64_t holds_{0};
    bool retired_{false};
    bool vanished_{false};
};

}  // namespace holdfast::simulation
