// The contract of drivers on etcd: one member, and three of them.
#include "base/text.hpp"
#include "compare/contract.hpp"
#include "stores/etcd/driver.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::driver_tests {

namespace {

/// Made when the first test asks for it, and kept: it takes longer to start than most tests take.
support::etcd_server& server_of(std::size_t members) {
    static support::etcd_server one{{.members = 1}};
    if (members == 1) return one;
    static support::etcd_server three{{.members = 3}};
    return three;
}

class etcd_under_test final : public driver_under_test {
public:
    explicit etcd_under_test(support::etcd_server& server) : server_{server} {}

    std::unique_ptr<compare::driver> make(compare::driver_events& events) override {
        return stores::etcd::make_driver(
            stores::etcd::settings::parse(base::url::parse(server_.url())),
            [](log_level, std::string const&) {}, events);
    }
    bool ends_sessions() const override { return true; }
    void end_session(compare::session_id id) override {
        server_.control({"lease", "revoke", base::hex(static_cast<std::uint64_t>(id))});
    }

private:
    support::etcd_server& server_;
};

contract_case row(std::string name, std::size_t members) {
    return {std::move(name),
            [members] { return std::make_unique<etcd_under_test>(server_of(members)); }};
}

}  // namespace

std::vector<contract_case> contract_cases() {
    return {row("one_member", 1), row("three_members", 3)};
}

}  // namespace holdfast::driver_tests
