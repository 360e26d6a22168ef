// mysql: directly, and with TLS: private servers of MariaDB, shared by the tests of one process, with tables that are new
// for each.
#include <cstdlib>
#include <fstream>
#include <memory>

#include "conformance/context.hpp"
#include "support/mysql_server.hpp"

namespace holdfast::conformance {

namespace {

/// Started when the first test needs it, and kept until the process ends.
support::mysql_server& server_of(bool tls) {
    if (!tls) {
        static support::mysql_server plain;
        return plain;
    }
    static support::mysql_server secure{{.tls = true}};
    return secure;
}

/// The option file of this process. libmariadb looks for the place of such files once, when it is first used.
std::string option_file() {
    static support::temporary_directory const place;
    static bool const told = ::setenv("MYSQL_HOME", place.path().c_str(), 1) == 0;
    return told ? (place.path() / "my.cnf").string() : std::string{};
}

class mysql_context : public context {
public:
    explicit mysql_context(support::mysql_server& server) : server_{server} {
        std::ofstream{option_file()};
        begin_anew();
    }
    ~mysql_context() override { server_.resume(); }

    [[nodiscard]] std::string url() const override { return server_.url(); }

    void silence() override { server_.stop(); }
    void restore() override { server_.resume(); }
    void begin_anew() override { server_.clear(); }

protected:
    support::mysql_server& server_;
};

/// The tests put their own options behind the URL, so the certificate to trust is told by an option file.
class secure_context final : public mysql_context {
public:
    secure_context() : mysql_context{server_of(true)} {
        std::ofstream{option_file()} << "[holdfast]\nssl-ca=" << server_.authority()
                                     << "\nssl-verify-server-cert\n";
    }
};

registration const direct{{.name = "mysql", .store = "mysql", .make = [] {
                               return std::make_unique<mysql_context>(server_of(false));
                           }}};
registration const secure{{.name = "mysql_tls", .store = "mysql", .make = [] {
                               return std::make_unique<secure_context>();
                           }}};

}  // namespace

}  // namespace holdfast::conformance
