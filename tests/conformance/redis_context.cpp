// redis:, rediss:, redis+unix: and ?layout=plain: a private server, shared by the tests of one process and emptied
// for each. redis+sentinel: and redis+cluster: private servers of theirs.
#include <cstdlib>
#include <stdexcept>

#include "conformance/context.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_sentinels.hpp"
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

// A master that is silent for as long as a test wants is not to lose its office: what becomes of holds when it does is
// tried in tests/redis.
constexpr std::chrono::minutes no_failover{10};

class sentinel_context final : public context {
public:
    sentinel_context() { begin_anew(); }
    ~sentinel_context() override { servers().master().resume(); }

    [[nodiscard]] std::string url() const override { return servers().url(); }

    void silence() override { servers().master().stop(); }
    void restore() override { servers().master().resume(); }
    void begin_anew() override { servers().master().ask({"FLUSHALL"}); }

private:
    [[nodiscard]] static support::redis_sentinels& servers() {
        static support::redis_sentinels all{{.down_after = no_failover}};
        return all;
    }
};

class cluster_context final : public context {
public:
    cluster_context() { begin_anew(); }
    ~cluster_context() override { restore(); }

    [[nodiscard]] std::string url() const override { return nodes().url(); }

    void silence() override {
        stopped_ = nodes().masters();
        for (auto* const each : stopped_)
            each->stop();
    }
    void restore() override {
        for (auto* const each : stopped_)
            each->resume();
        stopped_.clear();
    }
    void begin_anew() override {
        for (auto* const each : nodes().masters())
            each->ask({"FLUSHALL"});
    }

private:
    [[nodiscard]] static support::redis_cluster& nodes() {
        static support::redis_cluster all{{.node_timeout = no_failover}};
        return all;
    }

    std::vector<support::redis_server*> stopped_;
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
registration const sentinel{{.name = "redis_sentinel", .store = "redis", .make = [] {
                                 return std::make_unique<sentinel_context>();
                             }}};
registration const cluster{{.name = "redis_cluster", .store = "redis", .make = [] {
                                return std::make_unique<cluster_context>();
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
