// quorum+redis: three servers, and five.
#include "conformance/quorum_context.hpp"

#include "support/redis_server.hpp"

namespace holdfast::conformance {

namespace {

struct redis {
    using server = support::redis_server;
    static constexpr char const* scheme = "quorum+redis://";
    static constexpr char const* database = "";
    static std::unique_ptr<server> make() { return std::make_unique<server>(); }
    static void empty(server& which, unsigned /*turn*/) { which.ask({"FLUSHALL"}); }
    static std::string place(unsigned /*turn*/) { return {}; }
};

registration const three{quorum_row<redis, 3>("quorum")};
registration const five{quorum_row<redis, 5>("quorum_of_five")};

}  // namespace

}  // namespace holdfast::conformance
