// quorum+postgres: three servers.
#include "conformance/quorum_context.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::conformance {

namespace {

struct postgres {
    using server = support::postgres_server;
    static constexpr char const* scheme = "quorum+postgres://postgres@";
    static constexpr char const* database = "/postgres";
    // The tests do not take its machine's power away.
    static std::unique_ptr<server> make() {
        return std::make_unique<server>(
            support::postgres_server_options{.arguments = {"-c", "fsync=off"}});
    }
    // The tables are there beforehand: a member that is slower than others to make them would have those sit out.
    static void empty(server& which, unsigned turn) {
        client{which.url() + "?" + place(turn).substr(1)}.ping();
    }
    static std::string place(unsigned turn) { return "&prefix=t" + std::to_string(turn) + "_"; }
};

registration const three{quorum_row<postgres, 3>("quorum_of_postgres")};

}  // namespace

}  // namespace holdfast::conformance
