// Members of the kind postgres.
#include "quorum/member_server.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::quorum_faults {
namespace {

// What was acknowledged outlives a kill without fsync, too.
registration const postgres{
    {.name = "postgres",
     .scheme = "quorum+postgres://postgres@",
     .database = "/postgres",
     .make = []() -> std::unique_ptr<member_server> {
         return std::make_unique<member_of<support::postgres_server>>(
             support::postgres_server_options{.arguments = {"-c", "fsync=off"}});
     }}};

}  // namespace
}  // namespace holdfast::quorum_faults
