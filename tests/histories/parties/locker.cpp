// Locks in every form: exclusive and shared, alone and together, by lease and by thread, permits.
#include <mutex>
#include <type_traits>

#include <holdfast/multi_lock.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

class locker final : public party {
public:
    using party::party;

private:
    void step() override {
        rest(0ms, 8ms);
        if (around_.plan.crew == crew::careless) return by_lease(std::string{lock_names.front()});
        switch (random_.below(10)) {
        case 0: return by_thread(some_name());
        case 1: return exclusively(some_name());
        case 2:
        case 3: return together();
        case 4: return reading(some_name());
        case 5:
        case 6: return around_.plan.crew == crew::locks ? by_lease(some_name()) : permits();
        case 7: return by_lease(std::string{evicted_name});
        default: return by_lease(some_name());
        }
    }

    [[nodiscard]] std::string some_name() { return std::string{random_.one_of(lock_names)}; }

    /// Waits in one of the ways that a lock has. Nothing when it was busy or stopped.
    template <class Lock>
    [[nodiscard]] std::optional<lease> wait_for(Lock& lock) {
        switch (random_.below(5)) {
        case 0: return lock.acquire();
        case 1: return lock.try_acquire();
        case 2: return lock.try_acquire_for(random_.between(0ms, 400ms));
        case 3: {
            canceller const cancel{random_.between(0ms, 300ms)};
            return lock.acquire(cancel.token());
        }
        default: {
            canceller const cancel{random_.between(0ms, 300ms)};
            return lock.try_acquire_for(random_.between(100ms, 600ms), cancel.token());
        }
        }
    }

    void by_lease(std::string const& name) {
        mutex lock{around_.client, name, random_options()};
        auto hold = begin({name});
        take(hold, [&] { return wait_for(lock); });
    }

    void exclusively(std::string const& name) {
        shared_mutex lock{around_.client, name, random_options()};
        auto hold = begin({name});
        hold.asked();
        auto held = attempt(hold, [&] { return wait_for(lock); });
        if (!held) return;
        use(hold, *held);
        if (random_.once_in(2) && held->held()) {
            hold.weakening();
            try {
                lock.downgrade(*held);
            } catch (std::exception const&) {
                give_back(hold, std::move(*held));
                throw;
            }
            hold.weakened();
            rest(0ms, 10ms);
            hold.leave(hold_view::of(*held));
        }
        give_back(hold, std::move(*held));
    }

    void reading(std::string const& name) {
        shared_mutex lock{around_.client, name, random_options()};
        auto hold = begin({name}, mode::shared);
        take(hold, [&]() -> std::optional<lease> {
            if (random_.once_in(3)) return lock.acquire_shared();
            if (random_.once_in(3)) return lock.try_acquire_shared();
            canceller const cancel{random_.between(0ms, 300ms)};
            return lock.try_acquire_shared_for(random_.between(0ms, 500ms), cancel.token());
        });
    }

    void permits() {
        auto const n = static_cast<std::uint32_t>(1 + random_.below(around_.plan.limit));
        semaphore pool{around_.client, semaphore_name, around_.plan.limit, random_options()};
        auto hold = begin({std::string{semaphore_name}}, mode::permits, n);
        take(hold, [&]() -> std::optional<lease> {
            if (random_.once_in(3)) return pool.acquire_lease(n);
            if (random_.once_in(3)) return pool.try_acquire_lease(n);
            canceller const cancel{random_.between(0ms, 300ms)};
            return pool.try_acquire_lease_for(random_.between(0ms, 500ms), n, cancel.token());
        });
    }

    void together() {
        auto const options = random_options();
        auto const first = random_.below(lock_names.size());
        auto const next = (first + 1 + random_.below(lock_names.size() - 1)) % lock_names.size();
        mutex one{around_.client, lock_names[first], options};
        mutex two{around_.client, lock_names[next], options};
        auto hold = begin({one.name(), two.name()});
        take(hold, [&]() -> std::optional<lease> {
            if (random_.once_in(3)) return try_lock_all_for(longest_collecting, one, two);
            if (random_.once_in(2)) return try_lock_all_for(random_.between(0ms, 500ms), one, two);
            canceller const cancel{random_.once_in(2) ? longest_collecting
                                                      : random_.between(0ms, 400ms)};
            return lock_all(cancel.token(), one, two);
        });
    }

    void by_thread(std::string const& name) {
        mutex lock{around_.client, name, random_options()};
        auto hold = begin({name});
        hold.asked();
        std::unique_lock guard{lock, std::defer_lock};
        bool const got = attempt(hold, [&] {
            if (random_.once_in(2)) return guard.try_lock_for(random_.between(0ms, 500ms));
            guard.lock();
            return true;
        });
        if (!got) return;
        hold.granted([&](std::string const&) { return lock.token(); });
        auto const view = hold_view::of(lock);
        if (hold.enter(view)) linger(hold, view, lock_options{}.lease / 100);
        hold.releasing(view);
        guard.unlock();
        hold.released(outcome::none);
    }

    /// Calls for a hold; what it throws is written down and goes on.
    template <class Call>
    std::invoke_result_t<Call&> attempt(visit& hold, Call&& call) {
        try {
            auto held = call();
            if (!held) hold.refused("busy");
            if constexpr (requires { held->token(); })
                if (held) hold.granted([&](std::string const& name) { return held->token(name); });
            return held;
        } catch (std::exception const& error) {
            hold.refused(error.what());
            throw;
        }
    }

    template <class Call>
    void take(visit& hold, Call&& call) {
        hold.asked();
        auto held = attempt(hold, call);
        if (!held) return;
        use(hold, *held);
        give_back(hold, std::move(*held));
    }

    void use(visit& hold, lease const& held) {
        auto const view = hold_view::of(held);
        if (!hold.enter(view)) return;
        linger(hold, view, std::max(held.remaining(), 20ms));
    }

    /// Mostly short; now and then as long as a lease, so that it takes renewals.
    void linger(visit& hold, hold_view const& view, std::chrono::milliseconds lease) {
        bool const is_long = random_.once_in(30);
        // Some never look, and leave it to the token.
        bool const looks = !random_.once_in(4);
        auto const end =
            boot_time() +
            (is_long ? random_.between(lease / 2, lease * 3 / 2)
                     : random_.between(0ms, around_.plan.crew == crew::careless ? 60ms : 12ms))
                    .count() *
                millisecond;
        while (boot_time() < end && !stopping()) {
            rest(0ms, is_long ? 40ms : 4ms);
            if (looks && !hold.look(view)) return;
        }
        hold.leave(view, looks);
    }

    void give_back(visit& hold, lease held) {
        hold.releasing(hold_view::of(held));
        auto said = outcome::none;
        if (random_.once_in(3))
            held = lease{};  // the destructor's way
        else
            said = outcome_of(held.release());
        hold.released(said);
    }
};

}  // namespace

std::unique_ptr<party> make_locker(surroundings const& around, identity who) {
    return std::make_unique<locker>(around, who);
}

}  // namespace holdfast::histories
