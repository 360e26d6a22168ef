// The contract of drivers on ZooKeeper: one server, and three of them.
#include "compare/contract.hpp"
#include "stores/zookeeper/driver.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::driver_tests {

namespace {

/// Made when the first test asks for it, and kept: it takes longer to start than most tests take.
support::zookeeper_server& server_of(std::size_t members) {
    static support::zookeeper_server one{{.members = 1}};
    if (members == 1) return one;
    static support::zookeeper_server three{{.members = 3}};
    return three;
}

class zookeeper_under_test final : public driver_under_test {
public:
    explicit zookeeper_under_test(support::zookeeper_server& server) : server_{server} {}

    std::unique_ptr<compare::driver> make(compare::driver_events& events) override {
        auto const url = server_.url() + "&timeout=20s";  // a disk that others write to is slow
        return std::make_unique<stores::zookeeper::driver>(
            stores::zookeeper::settings::parse(base::url::parse(url)),
            [](log_level, std::string const&) {}, events);
    }
    std::chrono::milliseconds short_lease() const override {
        return std::chrono::milliseconds{500};
    }

private:
    support::zookeeper_server& server_;
};

contract_case row(std::string name, std::size_t members) {
    return {std::move(name),
            [members] { return std::make_unique<zookeeper_under_test>(server_of(members)); }};
}

}  // namespace

std::vector<contract_case> contract_cases() {
    return {row("one_server", 1), row("three_servers", 3)};
}

}  // namespace holdfast::driver_tests
