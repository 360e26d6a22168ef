// Meets the barrier parties of the other workers, again and again. Whoever finds it broken may mend it.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

class barrier_party final : public party {
public:
    using party::party;

private:
    void step() override {
        rest(0ms, 60ms);
        barrier meeting{around_.client, barrier_name, around_.plan.barrier_parties};
        auto const call = record_.new_call();
        auto const before = boot_time();
        tell(kind::arriving, call, before, 0, 0, {});
        try {
            auto const generation = arrive(meeting);
            if (!generation) return mend(meeting, call, before, "timed out");
            tell(kind::tripped, call, before, boot_time(), static_cast<std::int64_t>(*generation),
                 {});
            record_.advance();
        } catch (std::system_error const& error) {
            if (error.code() == errc::broken_barrier)
                return mend(meeting, call, before, error.what());
            tell(kind::broken, call, before, boot_time(), 0, error.what());
            throw;
        }
    }

    [[nodiscard]] std::optional<std::uint64_t> arrive(barrier& meeting) {
        auto const patience = random_.between(2000ms, 4000ms);
        if (!around_.asio) return meeting.arrive_and_wait_for(patience);
        // Without a time of its own: it is cancelled instead, by the thread that waits.
        auto signal = std::make_shared<boost::asio::cancellation_signal>();
        auto arrived = async_arrive_and_wait(
            meeting, boost::asio::bind_cancellation_slot(signal->slot(), boost::asio::use_future));
        if (arrived.wait_for(patience) == std::future_status::timeout)
            signal->emit(boost::asio::cancellation_type::all);
        try {
            return arrived.get();
        } catch (boost::system::system_error const& error) {
            // It is not told whether the others had come before.
            throw std::system_error{make_error_code(errc::store_unavailable), error.what()};
        }
    }

    void mend(barrier& meeting, std::uint64_t call, instant before, std::string_view why) {
        tell(kind::broken, call, before, boot_time(), 1, why);
        rest(0ms, 80ms);
        if (random_.once_in(2)) meeting.reset();
    }

    void tell(kind what, std::uint64_t call, instant before, instant after, std::int64_t number,
              std::string_view note) {
        event one;
        one.kind = what;
        one.call = call;
        one.before = before;
        one.after = after;
        one.number = number;
        one.second_number = around_.plan.barrier_parties;
        one.set_name(barrier_name);
        one.set_note(note);
        record_.append(one);
    }
};

}  // namespace

std::unique_ptr<party> make_barrier_party(surroundings const& around, identity who) {
    return std::make_unique<barrier_party>(around, who);
}

}  // namespace holdfast::histories
