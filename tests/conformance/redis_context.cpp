// redis:, rediss:, redis+unix: and ?layout=plain: a private server, shared by the tests of one process and emptied
// for each.
#include <cstdlib>
#include <stdexcept>

#include "conformance/context.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance {

namespace {

/// Started when the first test needs it, and kept until the process ends.
support::redis_server& server_of(bool tls) {
    if (!tls) {
        static support::redis_server plain;
        return plain;
    }
    static support::redis_server secure{{.tls = true}};
    return secure;
}

class redis_context : public context {
public:
    explicit redis_context(support::redis_server& server) : server_{server} { begin_anew(); }
    ~redis_context() override { server_.resume(); }

    [[nodiscard]] std::string url() const override { return server_.url(); }

    void silence() override { server_.stop(); }
    void restore() override { server_.resume(); }
    void begin_anew() override { server_.ask({"FLUSHALL"}); }

protected:
    support::redis_server& server_;
};

/// The tests put their own options behind the URL, so the certificate to trust is told as a program's
/// environment would.
class rediss_context final : public redis_context {
public:
    rediss_context() : redis_context{server_of(true)} {
        ::setenv("SSL_CERT_FILE", server_.authority().c_str(), 1);
    }
};

class socket_context final : public redis_context {
public:
    socket_context() : redis_context{server_of(false)} {}
    [[nodiscard]] std::string url() const override { return "redis+unix:" + server_.socket_path(); }
};

/// One string key per lock, as other clients have it: exclusive locks, and whoever waits asks again.
class plain_layout_context final : public redis_context {
public:
    plain_layout_context() : redis_context{server_of(false)} {}
    [[nodiscard]] std::string url() const override { return server_.url() + "?layout=plain"; }
};

registration const native{{.name = "redis", .store = "redis", .make = [] {
                               return std::make_unique<redis_context>(server_of(false));
                           }}};
registration const secure{{.name = "rediss", .store = "redis", .make = [] {
                               return std::make_unique<rediss_context>();
                           }}};
registration const local{{.name = "redis_unix", .store = "redis", .make = [] {
                              return std::make_unique<socket_context>();
                          }}};
registration const plain{
    {.name = "redis_plain",
     .store = "redis",
     .lacks = {ability::line, ability::holder_details, ability::any_name, ability::fair_order,
               ability::shared_holds, ability::joint_owners, ability::semaphores, ability::latches,
               ability::barriers, ability::conditions, ability::elections},
     .make = [] { return std::make_unique<plain_layout_context>(); }}};

}  // namespace

}  // namespace holdfast::conformance
