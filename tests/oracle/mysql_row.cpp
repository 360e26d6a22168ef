// MariaDB against the rules.
#include "oracle/row.hpp"
#include "support/mysql_server.hpp"

extern "C" holdfast::seam::store_module const* holdfast_store_mysql_v1();

namespace holdfast::oracle {
namespace {

running_store run_mysql() {
    auto server = std::make_shared<support::mysql_server>();
    return {server->url(), server};
}

[[maybe_unused]] auto const& added =
    further_rows().emplace_back(row{.name = "mysql",
                                    .make = make_by<&holdfast_store_mysql_v1>,
                                    .run = run_mysql,
                                    .sessions = true,
                                    .ballots = true,
                                    .requests = 100'000});

}  // namespace
}  // namespace holdfast::oracle
