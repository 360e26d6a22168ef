// etcd: and etcds: private members, shared by the tests of one process and emptied for each.
#include <fstream>

#include "conformance/context.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::conformance {

namespace {

class etcd_context : public context {
public:
    /// `administrator`: user:password, where users are asked for.
    explicit etcd_context(support::etcd_server& at, std::string const& administrator = {})
        : server_{at} {
        server_.control({"del", "", "--from-key"}, administrator);
    }
    ~etcd_context() override { resume(); }

    [[nodiscard]] std::string url() const override { return server_.url(); }

    void silence() override {
        for (std::size_t each = 0; each < server_.members(); ++each)
            server_.stop(each);
    }
    void restore() override { resume(); }
    void begin_anew() override { server_.begin_anew(); }

protected:
    support::etcd_server& server_;

private:
    void resume() {
        for (std::size_t each = 0; each < server_.members(); ++each)
            server_.resume(each);
    }
};

// Each server is started when the first test needs it, and kept until the process ends.

support::etcd_server& one_member() {
    static support::etcd_server out;
    return out;
}

support::etcd_server& three_members() {
    static support::etcd_server out{{.members = 3}};
    return out;
}

/// Both sides show certificates.
class certified_context final : public etcd_context {
public:
    certified_context() : etcd_context{server()} {}
    [[nodiscard]] std::string url() const override {
        return server_.url() + "?" + server_.certificates();
    }

private:
    static support::etcd_server& server() {
        static support::etcd_server out{{.tls = true, .client_certificates = true}};
        return out;
    }
};

/// With a user who may use the prefix and nothing else. The password is in a file, since URLs are shown without.
class user_context final : public etcd_context {
public:
    user_context() : etcd_context{server(), support::etcd_server::administrator} {}
    [[nodiscard]] std::string url() const override {
        auto out = server_.url();
        return out.insert(out.find("//") + 2, "anna@") + "?passwordfile=" + password_file(server_);
    }
    void begin_anew() override {
        etcd_context::begin_anew();
        want_users(server_);
    }

private:
    static std::string password_file(support::etcd_server const& at) {
        return at.directory() + "/password";
    }
    static void want_users(support::etcd_server const& at) {
        std::ofstream{password_file(at)} << "s3cret\n";
        at.want_users("anna", "s3cret", "holdfast/");
    }
    static support::etcd_server& server() {
        // Every client proves who it is, and that costs the server much time unless it is told otherwise.
        static support::etcd_server out{{.arguments = {"--bcrypt-cost", "4"}}};
        static bool const asks = (want_users(out), true);
        (void)asks;
        return out;
    }
};

abilities const lacking{ability::clients_in_forks, ability::lasting_tokens};

registration const one{{.name = "etcd", .store = "etcd", .lacks = lacking, .make = [] {
                            return std::make_unique<etcd_context>(one_member());
                        }}};
registration const three{{.name = "etcd_cluster", .store = "etcd", .lacks = lacking, .make = [] {
                              return std::make_unique<etcd_context>(three_members());
                          }}};
registration const certified{{.name = "etcds", .store = "etcd", .lacks = lacking, .make = [] {
                                  return std::make_unique<certified_context>();
                              }}};
registration const user{{.name = "etcd_user", .store = "etcd", .lacks = lacking, .make = [] {
                             return std::make_unique<user_context>();
                         }}};

}  // namespace

}  // namespace holdfast::conformance
