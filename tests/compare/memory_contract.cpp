// The contract of drivers on the driver in memory, of either make.
#include "base/random.hpp"
#include "compare/contract.hpp"
#include "compare/memory_driver.hpp"

namespace holdfast::driver_tests {

namespace {

class memory_under_test final : public driver_under_test {
public:
    explicit memory_under_test(server_make make) : server_{make, base::entropy()} {}

    std::unique_ptr<compare::driver> make(compare::driver_events& events) override {
        return std::make_unique<memory_driver>(server_, events);
    }
    bool ends_sessions() const override { return true; }
    void end_session(compare::session_id id) override { server_.end_session(id); }
    bool hold_back_steps(compare::driver& which) override {
        dynamic_cast<memory_driver&>(which).hold_back_steps();
        return true;
    }
    void let_steps_go(compare::driver& which) override {
        dynamic_cast<memory_driver&>(which).let_steps_go();
    }
    bool cut(compare::driver& which) override {
        dynamic_cast<memory_driver&>(which).cut();
        return true;
    }
    std::chrono::milliseconds short_lease() const override {
        return std::chrono::milliseconds{300};
    }
    int rounds() const override { return 300; }

private:
    memory_server server_;
};

contract_case row(std::string name, server_make make) {
    return {std::move(name), [make] { return std::make_unique<memory_under_test>(make); }};
}

}  // namespace

std::vector<contract_case> contract_cases() {
    return {row("with_clock", server_make::with_clock),
            row("without_clock", server_make::without_clock)};
}

}  // namespace holdfast::driver_tests
