// quorum+mysql: three servers of MariaDB.
#include "conformance/quorum_context.hpp"
#include "support/mysql_server.hpp"

namespace holdfast::conformance {

namespace {

struct mysql {
    using server = support::mysql_server;
    static constexpr char const* scheme = "quorum+mysql://root@";
    static constexpr char const* database = "/holdfast";
    static std::unique_ptr<server> make() { return std::make_unique<server>(); }
    // The tables are there beforehand: a member that is slower than others to make them would have those sit out.
    static void empty(server& which, unsigned turn) {
        client{which.url() + "?" + place(turn).substr(1)}.ping();
    }
    static std::string place(unsigned turn) { return "&prefix=t" + std::to_string(turn) + "_"; }
};

registration const three{quorum_row<mysql, 3>("quorum_of_mysql")};

}  // namespace

}  // namespace holdfast::conformance
