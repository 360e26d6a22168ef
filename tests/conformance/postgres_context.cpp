// postgres: directly, with TLS, and through pgbouncer: private servers, shared by the tests of one process, with a
// database for each.
#include <cstdlib>
#include <memory>

#include "conformance/context.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::conformance {

namespace {

/// Started when the first test needs it, and kept until the process ends. Without fsync: the tests do not take its
/// machine's power away.
support::postgres_server& server_of(bool tls) {
    std::vector<std::string> const arguments{"-c", "fsync=off"};
    if (!tls) {
        static support::postgres_server plain{{.arguments = arguments}};
        return plain;
    }
    static support::postgres_server secure{{.tls = true, .arguments = arguments}};
    return secure;
}

class postgres_context : public context {
public:
    explicit postgres_context(support::postgres_server& server) : server_{server} { begin_anew(); }
    ~postgres_context() override { server_.resume(); }

    [[nodiscard]] std::string url() const override { return server_.url(); }

    void silence() override { server_.stop(); }
    void restore() override { server_.resume(); }
    void begin_anew() override { server_.clear(); }

protected:
    support::postgres_server& server_;
};

/// The tests put their own options behind the URL, so the certificate to trust is told as a program's
/// environment would.
class secure_context final : public postgres_context {
public:
    secure_context() : postgres_context{server_of(true)} {
        ::setenv("PGSSLMODE", "verify-full", 1);
        ::setenv("PGSSLROOTCERT", server_.authority().c_str(), 1);
    }
    ~secure_context() override {
        ::unsetenv("PGSSLMODE");
        ::unsetenv("PGSSLROOTCERT");
    }
};

/// Nothing is pushed: whoever waits asks again.
class pooled_context final : public postgres_context {
public:
    pooled_context() : postgres_context{server_of(false)}, pooler_{server_} {}
    [[nodiscard]] std::string url() const override { return pooler_.url(); }

private:
    support::pgbouncer pooler_;
};

registration const direct{{.name = "postgres", .store = "postgres", .make = [] {
                               return std::make_unique<postgres_context>(server_of(false));
                           }}};
registration const secure{{.name = "postgres_tls", .store = "postgres", .make = [] {
                               return std::make_unique<secure_context>();
                           }}};
registration const pooled{{.name = "postgres_pgbouncer", .store = "postgres", .make = [] {
                               return std::make_unique<pooled_context>();
                           }}};

}  // namespace

}  // namespace holdfast::conformance
