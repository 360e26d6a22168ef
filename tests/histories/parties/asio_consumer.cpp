// Takes what producers put, and waits for it by the Asio forms.
#include <future>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

namespace asio = boost::asio;

class asio_consumer final : public party {
public:
    asio_consumer(surroundings const& around, identity who)
        : party{around, who},
          mutex_{around.client, condition_name, {.lease = 1500ms}},
          changed_{around.client, condition_name} {}

private:
    void step() override {
        auto hold = begin({std::string{condition_name}});
        hold.asked();
        std::optional<lease> held;
        try {
            held = async_try_acquire_for(mutex_, 5s, asio::use_future).get();
        } catch (std::exception const& error) {
            hold.refused(error.what());
            throw;
        }
        if (!held) return hold.refused("busy");
        if (take(hold, *held) || stopping()) return give_back(hold, std::move(*held));
        hold.releasing(hold_view::of(*held));
        auto again = begin({std::string{condition_name}});
        again.asked();
        if (auto next = wait(std::move(*held)); next.token() != 0) {
            (void)take(again, next);
            give_back(again, std::move(next));
        } else {
            again.refused("cancelled");
        }
    }

    /// Whether there is nothing to wait for: it took something, or lost the hold.
    [[nodiscard]] bool take(visit& hold, lease const& held) {
        hold.granted([&](std::string const&) { return held.token(); });
        if (!hold.enter(hold_view::of(held))) return true;
        if (hold.value() == 0) return false;
        (void)hold.write(hold.value() - 1);
        return true;
    }

    void give_back(visit& hold, lease held) {
        hold.releasing(hold_view::of(held));
        hold.released(outcome_of(async_release(std::move(held), asio::use_future).get()));
    }

    /// Cancelled after a while, since this form has no time of its own; an empty lease then.
    [[nodiscard]] lease wait(lease held) {
        auto const call = record_.new_call();
        auto const before = boot_time();
        tell(kind::waiting, call, before, 0);
        asio::cancellation_signal signal;
        auto woken = async_wait(changed_, mutex_, std::move(held),
                                asio::bind_cancellation_slot(signal.slot(), asio::use_future));
        auto const end = before + 8 * second;
        while (woken.wait_for(50ms) == std::future_status::timeout)
            if (boot_time() > end || stopping()) {
                signal.emit(asio::cancellation_type::all);
                break;
            }
        lease out;
        std::exception_ptr failure;
        try {
            out = woken.get();
        } catch (boost::system::system_error const& error) {
            if (error.code() != asio::error::operation_aborted) failure = std::current_exception();
        } catch (std::system_error const&) {
            failure = std::current_exception();
        }
        tell(kind::woke, call, before, boot_time());
        record_.advance();
        if (failure) std::rethrow_exception(failure);
        return out;
    }

    void tell(kind what, std::uint64_t call, instant before, instant after) {
        event one;
        one.kind = what;
        one.call = call;
        one.before = before;
        one.after = after;
        one.set_name(condition_name);
        record_.append(one);
    }

    mutex mutex_;
    condition_variable changed_;
};

}  // namespace

std::unique_ptr<party> make_asio_consumer(surroundings const& around, identity who) {
    return std::make_unique<asio_consumer>(around, who);
}

}  // namespace holdfast::histories
