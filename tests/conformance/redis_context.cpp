// redis:, rediss:, redis+unix: and ?layout=plain: a private server, shared by the tests of one process and emptied
// for each. redis+sentinel: and redis+cluster: private servers of theirs.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

/// How several servers are reached.
struct way {
    bool tls{false};
    bool replicas{false};  ///< what is granted counts when a replica has it

    /// As the environment of a program would, the certificate is told besides: tests put options of their own behind.
    [[nodiscard]] std::string to(std::string const& url, std::string const& authority) const {
        if (tls) ::setenv("SSL_CERT_FILE", authority.c_str(), 1);
        return url + (replicas ? "?replicas=1" : "");
    }
};

class sentinel_context final : public context {
public:
    explicit sentinel_context(way how) : how_{how}, servers_{servers(how.tls)} { begin_anew(); }
    ~sentinel_context() override { servers_.master().resume(); }

    [[nodiscard]] std::string url() const override {
        return how_.to(servers_.url(), servers_.authority());
    }

    void silence() override { servers_.master().stop(); }
    void restore() override { servers_.master().resume(); }
    void begin_anew() override { servers_.master().ask({"FLUSHALL"}); }

private:
    [[nodiscard]] static support::redis_sentinels& servers(bool tls) {
        if (!tls) {
            static support::redis_sentinels plain{{.down_after = no_failover}};
            return plain;
        }
        static support::redis_sentinels secure{{.tls = true, .down_after = no_failover}};
        return secure;
    }

    way how_;
    support::redis_sentinels& servers_;
};

class cluster_context final : public context {
public:
    explicit cluster_context(way how) : how_{how}, nodes_{nodes(how.tls)} { begin_anew(); }
    ~cluster_context() override { restore(); }

    [[nodiscard]] std::string url() const override {
        return how_.to(nodes_.url(), nodes_.authority());
    }

    void silence() override {
        stopped_ = nodes_.masters();
        for (auto* const each : stopped_)
            each->stop();
    }
    void restore() override {
        for (auto* const each : stopped_)
            each->resume();
        stopped_.clear();
    }
    void begin_anew() override {
        for (auto* const each : nodes_.masters())
            each->ask({"FLUSHALL"});
    }

private:
    [[nodiscard]] static support::redis_cluster& nodes(bool tls) {
        if (!tls) {
            static support::redis_cluster plain{{.node_timeout = no_failover}};
            return plain;
        }
        static support::redis_cluster secure{{.tls = true, .node_timeout = no_failover}};
        return secure;
    }

    way how_;
    support::redis_cluster& nodes_;
    std::vector<support::redis_server*> stopped_;
};

template <class Context>
store_row row_of(std::string name, way how) {
    return {.name = std::move(name), .store = "redis", .make = [how] {
                return std::make_unique<Context>(how);
            }};
}

registration const native{{.name = "redis", .store = "redis", .make = [] {
                               return std::make_unique<redis_context>(server_of(false));
                           }}};
registration const secure{{.name = "rediss", .store = "redis", .make = [] {
                               return std::make_unique<rediss_context>();
                           }}};
registration const local{{.name = "redis_unix", .store = "redis", .make = [] {
                              return std::make_unique<socket_context>();
                          }}};
registration const sentinel{row_of<sentinel_context>("redis_sentinel", {})};
registration const secure_sentinel{row_of<sentinel_context>("rediss_sentinel", {.tls = true})};
registration const replicated_sentinel{
    row_of<sentinel_context>("redis_sentinel_replicas", {.replicas = true})};
registration const cluster{row_of<cluster_context>("redis_cluster", {})};
registration const secure_cluster{row_of<cluster_context>("rediss_cluster", {.tls = true})};
registration const replicated_cluster{
    row_of<cluster_context>("redis_cluster_replicas", {.replicas = true})};
registration const plain{
    {.name = "redis_plain",
     .store = "redis",
     .lacks = {ability::line, ability::holder_details, ability::any_name, ability::fair_order,
               ability::shared_holds, ability::joint_owners, ability::semaphores, ability::latches,
               ability::barriers, ability::conditions, ability::elections},
     .make = [] { return std::make_unique<plain_layout_context>(); }}};

}  // namespace

}  // namespace holdfast::conformance
