// Members of the kind postgres.
#include "quorum/member_server.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::quorum_faults {
namespace {

// What was acknowledged outlives a kill without fsync, too.
registration const postgres{
    {.name = "postgres",
     .scheme = "quorum+postgres://",
     .login = "postgres@",
     .account = "",
     .database = "/postgres",
     .make = []() -> std::unique_ptr<member_server> {
         return std::make_unique<member_of<support::postgres_server>>(
             "CREATE ROLE ? SUPERUSER LOGIN",
             support::postgres_server_options{.arguments = {"-c", "fsync=off"}});
     }}};

}  // namespace
}  // namespace holdfast::quorum_faults
