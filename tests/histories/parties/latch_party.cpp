// Goes from latch to latch: counts down, looks, waits. Which latch it is follows from the time, so that
// parties of all processes meet without talking to each other.
#include <boost/asio/use_future.hpp>

#include <holdfast/asio.hpp>

#include "histories/party.hpp"

namespace holdfast::histories {

namespace {

class latch_party final : public party {
public:
    using party::party;

private:
    void step() override {
        auto const number = boot_time() / around_.plan.latch_lasts;
        if (number == last_) return rest(10ms, 100ms);
        name_ = std::string{latch_prefix} + std::to_string(number);
        latch gate{around_.client, name_, around_.plan.latch_count};
        // One that others have left behind is not waited for, for ever.
        auto const end = boot_time() + 4 * around_.plan.latch_lasts;
        while (!stopping() && boot_time() < end) {
            count_down(gate);
            if (random_.once_in(3)) look(gate);
            if (wait(gate)) {
                last_ = number;
                return;
            }
        }
        last_ = number;
    }

    void tell(kind what, instant before, instant after, std::int64_t number) {
        event one;
        one.kind = what;
        one.before = before;
        one.after = after;
        one.number = number;
        one.second_number = around_.plan.latch_count;
        one.set_name(name_);
        record_.append(one);
        if (what == kind::saw_open) record_.advance();
    }

    void count_down(latch& gate) {
        auto const n = static_cast<std::uint32_t>(1 + random_.below(2));
        auto const before = boot_time();
        tell(kind::counting_down, before, 0, n);
        if (around_.asio)
            async_count_down(gate, n, boost::asio::use_future).get();
        else
            gate.count_down(n);
        tell(kind::counted_down, before, boot_time(), n);
    }

    void look(latch& gate) {
        auto const before = boot_time();
        auto const count = gate.count();
        tell(kind::saw_count, before, boot_time(), count);
    }

    [[nodiscard]] bool wait(latch& gate) {
        auto before = boot_time();
        auto const span = random_.between(0ms, 300ms);
        bool open = false;
        if (around_.asio)
            open = async_wait_for(gate, span, boost::asio::use_future).get();
        else if (random_.once_in(3))
            open = gate.try_wait();
        else
            open = gate.wait_for(span);
        if (open) {
            tell(kind::saw_open, before, boot_time(), 0);
            return true;
        }
        before = boot_time();
        open = gate.try_wait();
        tell(open ? kind::saw_open : kind::saw_closed, before, boot_time(), 0);
        return open;
    }

    std::int64_t last_{0};
    std::string name_;
};

}  // namespace

std::unique_ptr<party> make_latch_party(surroundings const& around, identity who) {
    return std::make_unique<latch_party>(around, who);
}

}  // namespace holdfast::histories
