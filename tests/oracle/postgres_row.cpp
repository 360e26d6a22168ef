// PostgreSQL against the rules.
#include "oracle/row.hpp"
#include "support/postgres_server.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_postgres_v1();

namespace holdfast::oracle {
namespace {

running_store run_postgres() {
    // Without fsync: nobody takes the power away.
    auto server = std::make_shared<support::postgres_server>(
        support::postgres_server_options{.arguments = {"-c", "fsync=off"}});
    return {server->url(), server};
}

[[maybe_unused]] auto const& added =
    further_rows().emplace_back(row{.name = "postgres",
                                    .make = make_by<&holdfast_store_postgres_v1>,
                                    .run = run_postgres,
                                    .sessions = true,
                                    .ballots = true,
                                    .requests = 100'000});

}  // namespace
}  // namespace holdfast::oracle
