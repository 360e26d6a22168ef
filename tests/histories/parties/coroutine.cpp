// The Asio forms: coroutines that lock, on one thread, with cancellation.
#include <chrono>
#include <optional>
#include <tuple>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <holdfast/asio.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace asio::experimental::awaitable_operators;

class coroutine final : public party {
public:
    using party::party;

    void run(std::stop_token stop) override {
        stop_ = std::move(stop);
        asio::io_context io{1};
        asio::co_spawn(io, loop(), asio::detached);
        io.run();
        record_.append(kind::party_ended);
    }

private:
    void step() override {}

    awaitable<void> loop() {
        while (!stopping()) {
            bool failed = false;
            try {
                co_await one_hold();
            } catch (boost::system::system_error const& error) {
                failed = true;
                if (error.code() != asio::error::operation_aborted) complain(error);
            } catch (std::system_error const& error) {
                failed = true;
                if (!is_expected(error.code())) complain(error);
            } catch (std::exception const& error) {
                failed = true;
                complain(error);
            }
            if (failed) co_await nap(random_.between(5ms, 50ms));
        }
    }

    awaitable<void> nap(std::chrono::milliseconds span) {
        asio::steady_timer timer{co_await asio::this_coro::executor, span};
        co_await timer.async_wait(use_awaitable);
    }

    awaitable<void> one_hold() {
        co_await nap(random_.between(0ms, 10ms));
        auto const options = random_options();
        std::string const name{random_.one_of(lock_names)};
        switch (around_.plan.crew == crew::locks ? 2 + random_.below(4) : random_.below(6)) {
        case 2: {
            shared_mutex lock{around_.client, name, options};
            auto hold = begin({name}, mode::shared);
            co_await take(hold, async_acquire_shared(lock, use_awaitable));
            break;
        }
        case 0: {
            auto const n = static_cast<std::uint32_t>(1 + random_.below(around_.plan.limit));
            semaphore pool{around_.client, semaphore_name, around_.plan.limit, options};
            auto hold = begin({std::string{semaphore_name}}, mode::permits, n);
            co_await take(hold, async_acquire(pool, n, use_awaitable));
            break;
        }
        case 1: {
            election race{around_.client, election_name, {.lease = 800ms}};
            auto hold = begin({std::string{election_name}});
            co_await take(hold, async_campaign(race, "a coroutine", use_awaitable));
            break;
        }
        case 3: {
            mutex one{around_.client, lock_names[0], options};
            mutex two{around_.client, lock_names[1], options};
            auto hold = begin({one.name(), two.name()});
            co_await take(hold, async_lock_all(std::tie(one, two), use_awaitable),
                          longest_collecting);
            break;
        }
        default: {
            mutex lock{around_.client, name, options};
            auto hold = begin({name});
            co_await take(hold, async_acquire(lock, use_awaitable));
        }
        }
    }

    /// Waits for the hold, or for a moment or the longest time, whichever is first. Uses it and gives it back.
    awaitable<void> take(visit& hold, awaitable<lease> wanted,
                         std::optional<std::chrono::milliseconds> longest = {}) {
        hold.asked();
        lease held;
        try {
            if (random_.once_in(3)) longest = random_.between(0ms, 300ms);
            if (longest) {
                auto first = co_await (std::move(wanted) || nap(*longest));
                if (auto* const got = std::get_if<lease>(&first)) held = std::move(*got);
            } else {
                held = co_await std::move(wanted);
            }
        } catch (std::exception const& error) {
            hold.refused(error.what());
            throw;
        }
        if (held.token() == 0) co_return hold.refused("cancelled");
        hold.granted([&](std::string const& name) { return held.token(name); });
        co_await use(hold, std::move(held));
    }

    awaitable<void> use(visit& hold, lease held) {
        auto const view = hold_view::of(held);
        if (hold.enter(view)) {
            auto const most = random_.once_in(30) ? 800ms : 10ms;
            co_await nap(random_.between(0ms, most));
            hold.leave(view, !random_.once_in(4));
        }
        hold.releasing(view);
        auto const said = co_await async_release(std::move(held), use_awaitable);
        hold.released(outcome_of(said));
    }
};

}  // namespace

std::unique_ptr<party> make_coroutine(surroundings const& around, identity who) {
    return std::make_unique<coroutine>(around, who);
}

}  // namespace holdfast::histories
