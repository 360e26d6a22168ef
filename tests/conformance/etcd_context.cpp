// etcd: and etcds: a private member, shared by the tests of one process and emptied for each.
#include "conformance/context.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::conformance {

namespace {

/// Started when the first test needs it, and kept until the process ends.
support::etcd_server& server() {
    static support::etcd_server one;
    return one;
}

class etcd_context final : public context {
public:
    explicit etcd_context(support::etcd_server& at) : server_{at} {
        server_.control({"del", "", "--from-key"});
    }
    ~etcd_context() override { server_.resume(); }

    [[nodiscard]] std::string url() const override { return server_.url(); }

    void silence() override { server_.stop(); }
    void restore() override { server_.resume(); }
    void begin_anew() override { server_.begin_anew(); }

private:
    support::etcd_server& server_;
};

registration const native{{.name = "etcd",
                           .store = "etcd",
                           .lacks = {ability::clients_in_forks, ability::lasting_tokens},
                           .make = [] { return std::make_unique<etcd_context>(server()); }}};

}  // namespace

}  // namespace holdfast::conformance
